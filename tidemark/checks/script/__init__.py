"""Reads a job script without running it: its names, its calls, the values of its expressions."""
