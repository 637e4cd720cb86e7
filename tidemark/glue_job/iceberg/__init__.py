"""Apache Iceberg in the JVM of a job: its jar, its settings, its tables in the Data Catalog."""
