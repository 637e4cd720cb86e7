"""What readers write into the events of Spark, so that who counts rows can tell their work."""

ROW_OF_A_SOURCE = "row of a source"  # the column that marks rows of a reader
OWN_QUERY = "tidemark looks at a source"  # the description of a reader's own query
