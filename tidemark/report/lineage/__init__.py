"""OpenLineage events of job runs: built from what is recorded, sent beside the runs."""
