"""The DynamicFrame engine: Glue's transforms as expressions of Spark.

A DynamicFrame is a plan over one Spark DataFrame. A column that holds several types, Glue's choice,
is a struct with one field per type, named as Glue names the type, and is marked as a choice in the
metadata of its column; a frame without choices is exactly its DataFrame, so that ``fromDF`` and
``toDF`` cost nothing. ``toDF`` takes the marks away and leaves the structs, as Glue shows a choice
that is not resolved. What the plan can express is an expression; only functions of the script run
in Python, once per row. Records that a step could not process are kept apart, lazily.
"""
