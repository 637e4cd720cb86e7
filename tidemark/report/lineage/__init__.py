"""OpenLineage events of job runs: built from records, sent in parallel to the runs."""
