"""The results of studies as lines and tables of a terminal, CSV and JSON; what is computed here is layout alone."""
