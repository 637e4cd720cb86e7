"""Triggers and workflows: what starts which job, and when."""
