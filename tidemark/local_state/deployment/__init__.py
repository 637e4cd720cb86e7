"""The deployments of a home."""
