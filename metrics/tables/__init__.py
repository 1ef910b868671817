"""What records hold: kinds of columns, codes, levels, entities, and orders that no name decides."""
