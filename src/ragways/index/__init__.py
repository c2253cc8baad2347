"""Building, opening and looking after an index."""
