"""Job runs: their requests, their processes, and their recovery after a crash."""
