"""Unit tests of job scripts: fixtures for pytest, with Spark as a local job run has it.

Put ``pytest_plugins = ["tidemark.testing.plugin"]`` into the conftest.py of your tests.
"""
