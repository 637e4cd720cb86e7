"""Reads a job script without running it: its names, its calls, what its expressions are worth."""
