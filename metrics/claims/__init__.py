"""Attacks that speak or abstain, a family a file with its measure, and the framework that judges them."""
