"""Incremental AWS Glue pipelines: constructs, checks, a Glue on this machine, a command line."""
