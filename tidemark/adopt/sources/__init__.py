"""Where jobs to adopt are read."""
