"""Rewinds jobs to an earlier run: a plan with its consequences, one step, and back again."""
