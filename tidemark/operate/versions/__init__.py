"""Runs the same jobs on two versions of Glue, over copies of one home, and compares the results."""
