"""The connection types and formats that run here, for checks of scripts without Spark.

Tests compare them with the tables that readers and writers use.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect.html
"""

_FILES = ("s3", "file", "parquet", "orc")
_JDBC = tuple(
    "postgresql mysql oracle sqlserver redshift jdbc custom.jdbc marketplace.jdbc".split()
)
MONGODB = ("mongodb", "documentdb")
SPARK_SOURCES = ("custom.spark", "marketplace.spark", *MONGODB)
READ_TYPES = (*_FILES, *_JDBC, "dynamodb", *SPARK_SOURCES)
WRITE_TYPES = (*_FILES, *_JDBC, "dynamodb", *SPARK_SOURCES)
NO_STREAMS = (
    "streaming jobs do not run here: test the function that the script gives to forEachBatch with "
    "a DataFrame of rows, or read files of the same records"
)
READ_FORMATS = ("csv", "json", "avro", "xml", "parquet", "orc", "glueparquet", "ion")
WRITE_FORMATS = ("csv", "json", "avro", "parquet", "orc", "glueparquet")
