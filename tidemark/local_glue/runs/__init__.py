"""A job run: a process with its Spark, its Java and its records."""
