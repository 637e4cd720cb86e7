"""Glue's interactive sessions: each is a job run that runs statements."""
