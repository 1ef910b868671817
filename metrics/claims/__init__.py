"""Attacks that speak or abstain, and the framework that judges them."""
