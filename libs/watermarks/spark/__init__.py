"""Windows and Spark: the rows of a window, and their targets. Imports PySpark when called."""
