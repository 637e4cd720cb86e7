"""`tidemark prove`: which rows a crash, a retry or a second run of a job would lose or double."""
