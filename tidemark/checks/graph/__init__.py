"""Proves at synthesis that the graph of jobs and triggers works as declared."""
