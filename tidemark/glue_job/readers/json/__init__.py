"""Reads JSON files."""
