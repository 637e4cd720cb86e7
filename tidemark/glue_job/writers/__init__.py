"""Writes frames: files of S3, tables of databases, and their entries in the Data Catalog."""
