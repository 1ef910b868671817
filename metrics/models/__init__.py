"""Models that an attacker trains, and what they see."""
