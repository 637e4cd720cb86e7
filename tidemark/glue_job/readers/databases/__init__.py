"""Reads tables of databases."""
