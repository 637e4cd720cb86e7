"""The work of a run: open windows, commit them, fill ranges; and which windows count."""
