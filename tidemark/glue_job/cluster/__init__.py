"""Executors in processes of their own: of a cluster of the run, or of one that exists."""
