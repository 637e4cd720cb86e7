"""Writes new jobs and projects from templates."""
