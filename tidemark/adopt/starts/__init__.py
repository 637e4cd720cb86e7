"""What starts jobs and crawlers: triggers, schedules, events."""
