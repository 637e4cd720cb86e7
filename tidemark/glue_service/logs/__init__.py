"""CloudWatch Logs over the files of the runs."""
