"""What a pipeline tells the people who keep it running."""
