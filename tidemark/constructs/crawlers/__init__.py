"""A crawler: its targets, its permissions in the Data Catalog, and its role."""
