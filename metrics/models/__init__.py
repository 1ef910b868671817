"""Models that an attacker trains, and the features that they see."""
