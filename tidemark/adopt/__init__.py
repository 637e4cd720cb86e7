"""Reads jobs that others deployed, and writes them as a pipeline, with a plan to move to it."""
