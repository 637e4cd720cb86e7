"""Sources of job scripts: files by format, JDBC tables, tables of the Data Catalog."""
