"""What this repository needs to be worked on: set-up, and generators of documents."""
