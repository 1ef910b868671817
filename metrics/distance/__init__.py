"""Measures by distance and by equal values: those of PrivEval and of statistics offices."""
