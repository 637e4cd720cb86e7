"""Glue's operations on the Data Catalog, which Spark, readers and writers of this home share."""
