"""The settings of Spark by which a job of Glue uses tables of Iceberg in the Data Catalog.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-iceberg.html
"""

FORMAT = "iceberg"  # of `--datalake-formats`
CATALOG = "glue_catalog"
EXTENSIONS = "spark.sql.extensions"
ICEBERG_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
GLUE_CATALOG = "org.apache.iceberg.aws.glue.GlueCatalog"
FILE_IO = "org.apache.iceberg.aws.s3.S3FileIO"


def iceberg_settings(catalog: str, warehouse: str) -> dict[str, str]:
    """Return the five settings of a job, for a catalog of the Data Catalog and its warehouse."""
    key = f"spark.sql.catalog.{catalog}"
    return {
        EXTENSIONS: ICEBERG_EXTENSIONS,
        key: SPARK_CATALOG,
        f"{key}.catalog-impl": GLUE_CATALOG,
        f"{key}.io-impl": FILE_IO,
        f"{key}.warehouse": warehouse,
    }
