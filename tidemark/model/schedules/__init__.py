"""AWS's cron and rate expressions: which are valid, and when they fire."""
