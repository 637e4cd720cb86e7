"""What starts a pipeline: schedules, arriving objects, events."""
