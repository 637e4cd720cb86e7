"""A crawler: what it reads, what of the Data Catalog it may write, and its role."""
