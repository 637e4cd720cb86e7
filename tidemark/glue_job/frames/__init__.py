"""The DynamicFrame engine: Glue's transforms as expressions of Spark.

A DynamicFrame is a plan over one Spark DataFrame. A column with several types, Glue's choice,
is a struct with one field per type. Each field is named as Glue names the type, and the metadata
of the column marks it as a choice. A frame without choices is its DataFrame, so ``fromDF`` and
``toDF`` cost nothing. ``toDF`` removes the marks and keeps the structs: so Glue shows an
unresolved choice. Whatever can be a Spark expression is one; only functions of the script run in
Python, once per row. Records that a step could not process are kept apart, lazily.
"""
