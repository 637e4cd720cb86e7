"""The local Data Catalog as the metastore of a job's Spark session.

`LocalCatalog.java` is Spark's external catalog in the JVM; the process of the job answers it.
"""
