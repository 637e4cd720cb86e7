"""Job runs: their requests, their processes, what becomes of them after a crash."""
