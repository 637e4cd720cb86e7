"""What tests of review share."""

from __future__ import annotations

ENABLE, PAUSE, DISABLE = "job-bookmark-enable", "job-bookmark-pause", "job-bookmark-disable"

TABLE = "AWS::DynamoDB::Table"
