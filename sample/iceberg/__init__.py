"""The sample's second story: its curated flights in a table of Iceberg."""
