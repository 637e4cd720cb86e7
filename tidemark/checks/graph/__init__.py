"""Proves at synthesis that the graph of jobs and triggers does what it says."""
