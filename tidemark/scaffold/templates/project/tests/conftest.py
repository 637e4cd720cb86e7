"""Fixtures for job scripts: `spark`, `s3`, `job`, `run_job`, `watermark_table`."""

pytest_plugins = ["tidemark.testing.plugin"]
