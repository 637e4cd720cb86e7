"""The stacks of this project."""
