"""The local Data Catalog as the metastore of a job's Spark session.

`LocalCatalog.java` is Spark's external catalog in the JVM, with the databases and tables of
`LocalTables.java`; the job's process answers it.
"""
