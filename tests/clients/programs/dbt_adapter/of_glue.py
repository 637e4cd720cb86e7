"""A plugin of pytest with what dbt-tests-adapter asks for: the profile of dbt-glue."""

import pytest

ROLE = "arn:aws:iam::000000000000:role/local"
ICEBERG = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.glue_catalog": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.glue_catalog.warehouse": "s3://dbt-lake/dbt",
    "spark.sql.catalog.glue_catalog.catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
    "spark.sql.catalog.glue_catalog.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
}


@pytest.fixture(scope="class")
def dbt_profile_target(unique_schema):
    return {
        "type": "glue",
        "role_arn": ROLE,
        "user": ROLE,
        "region": "us-east-1",
        "glue_version": "5.1",
        "workers": 2,
        "worker_type": "G.1X",
        "schema": unique_schema,
        "database": unique_schema,
        "location": "s3://dbt-lake/dbt",
        "datalake_formats": "iceberg",
        "glue_session_reuse": True,
        "session_provisioning_timeout_in_seconds": 300,
        "conf": " --conf ".join(f"{name}={value}" for name, value in ICEBERG.items()),
    }
