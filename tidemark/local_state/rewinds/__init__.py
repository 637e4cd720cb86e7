"""Rewinds on this machine, and a rewind that is not complete."""
