"""DQDL, the language of rulesets of Glue Data Quality: read and checked, on plain data."""
