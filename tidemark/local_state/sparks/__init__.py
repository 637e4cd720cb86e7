"""The Sparks that jobs of this machine run on: that of this Python, and others in environments."""
