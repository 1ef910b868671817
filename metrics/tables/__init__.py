"""What records hold: kinds of columns, codes, levels, orders, entities. No measure and no attack."""
