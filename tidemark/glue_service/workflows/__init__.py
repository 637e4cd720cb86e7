"""Workflow runs: which triggers fire, and the job runs they start."""
