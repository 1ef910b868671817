"""Measures of tables that outgrow one machine: in parts, and to the bit what one machine finds on the same rows."""
