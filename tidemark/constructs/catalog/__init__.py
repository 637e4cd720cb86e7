"""Tables of the Data Catalog: declared with their data, used by jobs."""
