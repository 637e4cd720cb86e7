"""What was deployed into a home."""
