"""What differs between the rows of the same targets: of two runs, homes or versions of the code."""
