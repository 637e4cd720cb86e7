"""Runs, logs and triggers of a Glue through boto3 alone: an account's, or this machine's port."""
