"""How much of a corpus of public Glue scripts runs here, by our coverage data."""
