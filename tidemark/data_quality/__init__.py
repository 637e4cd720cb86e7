"""Glue Data Quality on this machine: rules in DQDL, planned without Spark, measured by it."""
