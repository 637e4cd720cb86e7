"""Reads CSV files."""
