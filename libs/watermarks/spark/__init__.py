"""Windows and Spark: which rows a window has, and where they go. Imports PySpark when called."""
