"""Finds in a Glue job script what loses its bookmark or fails its run, without running it."""
