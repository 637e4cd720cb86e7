"""Makes, merges, changes and lists tables of Iceberg in every way that scripts of Glue use."""

import json

import boto3
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from pyspark import SparkConf
from pyspark.context import SparkContext

CATALOG = "spark.sql.catalog.glue_catalog"
conf = SparkConf().setAll(
    [
        (CATALOG, "org.apache.iceberg.spark.SparkCatalog"),
        (f"{CATALOG}.warehouse", "s3://lake/warehouse/"),
        (f"{CATALOG}.catalog-impl", "org.apache.iceberg.aws.glue.GlueCatalog"),
        (f"{CATALOG}.io-impl", "org.apache.iceberg.aws.s3.S3FileIO"),
        (
            "spark.sql.extensions",
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        ),
    ]
)
glue_context = GlueContext(SparkContext(conf=conf))
spark = glue_context.spark_session
facts = {}


def rows(frame):
    return sorted([str(value) for value in row] for row in frame.collect())


def error_of(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


spark.sql("CREATE DATABASE glue_catalog.shop")
spark.sql("CREATE TABLE glue_catalog.shop.orders (id INT, name STRING COMMENT 'who') USING iceberg")
spark.sql("INSERT INTO glue_catalog.shop.orders VALUES (1, 'a'), (2, 'b')")
spark.sql("CREATE TEMPORARY VIEW new AS SELECT * FROM VALUES (2, 'c'), (3, 'd') AS v(id, name)")
spark.sql(
    "MERGE INTO glue_catalog.shop.orders t USING new ON t.id = new.id "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
)
spark.conf.set("spark.sql.catalog.later", "org.apache.iceberg.spark.SparkCatalog")
spark.conf.set("spark.sql.catalog.later.type", "glue")
spark.conf.set("spark.sql.catalog.rest", "org.apache.iceberg.spark.SparkCatalog")
spark.conf.set("spark.sql.catalog.rest.type", "rest")
spark.conf.set("spark.sql.catalog.rest.uri", "https://glue.eu-west-1.amazonaws.com/iceberg")
spark.conf.set("spark.sql.catalog.rest.warehouse", "123456789012")
facts["by another catalog"] = rows(spark.table("later.shop.orders"))
facts["by rest"] = rows(spark.table("rest.shop.orders"))
facts["by the session"] = rows(spark.sql("SELECT * FROM shop.orders"))
facts["shown"] = rows(spark.sql("SHOW TABLES IN glue_catalog.shop"))
facts["shown by the session"] = rows(spark.sql("SHOW TABLES IN shop"))[:1]
facts["listed by the session"] = [one.name for one in spark.catalog.listTables("shop")][:1]
spark.sql("CREATE DATABASE glue_catalog.listed")
spark.sql("CREATE TABLE glue_catalog.listed.only (id INT) USING iceberg")
facts["only listed"] = [[one.name, one.tableType] for one in spark.catalog.listTables("listed")][:1]
facts["by from_catalog"] = rows(
    glue_context.create_data_frame.from_catalog(database="shop", table_name="orders")
)
snapshots = spark.table("glue_catalog.shop.orders.snapshots").orderBy("committed_at").collect()
facts["operations"] = [row.operation for row in snapshots]
facts["at a snapshot"] = rows(
    glue_context.create_data_frame.from_catalog(
        database="shop",
        table_name="orders",
        additional_options={"snapshot-id": snapshots[0].snapshot_id},
    )
)
frame = spark.sql("SELECT 4 AS id, 'e' AS name")
glue_context.write_data_frame.from_catalog(frame=frame, database="shop", table_name="orders")
sink = glue_context.getSink(connection_type="s3", path="s3://lake/", enableUpdateCatalog=True)
sink.setCatalogInfo(catalogDatabase="shop", catalogTableName="orders")
sink.setFormat("glueparquet")
sink.writeFrame(DynamicFrame.fromDF(spark.sql("SELECT 5 AS id, 'f' AS name"), glue_context, "d"))
facts["written"] = rows(
    glue_context.create_data_frame.from_catalog(database="shop", table_name="orders")
)
facts["written, by the catalog"] = rows(spark.table("glue_catalog.shop.orders"))
facts["written, by the session"] = rows(spark.sql("SELECT * FROM shop.orders"))
facts["as DynamicFrame"] = error_of(
    lambda: glue_context.create_dynamic_frame.from_catalog(database="shop", table_name="orders")
)
spark.sql("ALTER TABLE glue_catalog.shop.orders RENAME COLUMN name TO title")
spark.sql("ALTER TABLE glue_catalog.shop.orders ADD COLUMN price DECIMAL(10, 2)")
glue = boto3.client("glue")
table = glue.get_table(DatabaseName="shop", Name="orders")["Table"]
facts["in the catalog"] = {
    "type": table["TableType"],
    "parameters": sorted(table["Parameters"]),
    "table_type": table["Parameters"]["table_type"],
    "location": table["StorageDescriptor"]["Location"],
    "columns": [
        [one["Name"], one["Type"], one["Parameters"]["iceberg.field.current"]]
        for one in table["StorageDescriptor"]["Columns"]
    ],
}
facts["twice"] = error_of(
    lambda: spark.sql("CREATE TABLE glue_catalog.shop.orders (id INT) USING iceberg")
)
facts["in no database"] = error_of(
    lambda: spark.sql("CREATE TABLE glue_catalog.none.orders (id INT) USING iceberg")
)
facts["without a place"] = error_of(
    lambda: spark.sql("CREATE TABLE later.shop.other (id INT) USING iceberg")
)
facts["in upper case"] = error_of(
    lambda: spark.sql("CREATE TABLE glue_catalog.shop.Orders2 (id INT) USING iceberg")
)
spark.conf.set("spark.sql.catalog.buckets", "org.apache.iceberg.spark.SparkCatalog")
spark.conf.set("spark.sql.catalog.buckets.type", "glue")
spark.conf.set("spark.sql.catalog.buckets.glue.id", "1:s3tablescatalog/b")
facts["in S3 Tables"] = error_of(lambda: spark.table("buckets.shop.orders"))
spark.sql("ALTER TABLE glue_catalog.shop.orders RENAME TO shop.sales")
facts["renamed"] = rows(spark.sql("SHOW TABLES IN glue_catalog.shop"))
facts["view"] = error_of(lambda: spark.sql("CREATE MATERIALIZED VIEW glue_catalog.shop.v AS SELECT 1"))
spark.sql("CREATE TABLE glue_catalog.shop.gone USING iceberg AS SELECT 1 AS a")
spark.sql("DROP TABLE glue_catalog.shop.gone PURGE")
facts["dropped"] = rows(spark.sql("SHOW TABLES IN glue_catalog.shop"))
spark.sql("CREATE TABLE glue_catalog.shop.lost (id INT) USING iceberg")
lost = glue.get_table(DatabaseName="shop", Name="lost")["Table"]["Parameters"]["metadata_location"]
bucket, _, key = lost.removeprefix("s3://").partition("/")
boto3.client("s3").put_object(Bucket=bucket, Key=key, Body=b'{"format-version": ')
facts["cut metadata"] = error_of(lambda: spark.table("later.shop.lost"))
boto3.client("s3").delete_object(Bucket=bucket, Key=key)
facts["lost metadata"] = error_of(lambda: spark.sql("INSERT INTO later.shop.lost VALUES (1)"))
glue.delete_table(DatabaseName="shop", Name="lost")
facts["not empty"] = error_of(lambda: spark.sql("DROP DATABASE glue_catalog.shop"))
print(json.dumps(facts))
