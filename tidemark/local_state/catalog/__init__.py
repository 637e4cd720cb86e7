"""The local Data Catalog: tables and connections."""
