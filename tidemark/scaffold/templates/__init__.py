"""What `tidemark init` and `tidemark new-job` write; Python that is checked as it stands."""
