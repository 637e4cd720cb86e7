"""Reads tables of the Data Catalog."""
