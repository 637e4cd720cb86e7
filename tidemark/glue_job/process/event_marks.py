"""Marks that readers leave in the events of Spark, so that counts of rows can tell their work."""

SOURCE_ROW = "row of a source"  # the column that marks rows of a reader
OWN_QUERY = "tidemark looks at a source"  # the description of a reader's own query
