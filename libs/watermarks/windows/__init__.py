"""What a run does: open windows, commit them, fill ranges in; and which windows count."""
