"""Writes frames: files of S3, tables of databases, and what of them the Data Catalog knows."""
