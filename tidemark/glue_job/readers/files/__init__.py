"""Reads files of S3 in every format."""
