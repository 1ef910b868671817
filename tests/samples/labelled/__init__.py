"""Messy tables of many countries, each column labelled by hand with what a steward would say of it."""
