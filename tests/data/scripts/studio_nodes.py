# Studio-generated style: CSV -> mapping of texts -> custom transform -> filter -> SQL -> Parquet.
import re
import sys

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrameCollection
from awsglue.job import Job
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext


def sparkSqlQuery(glueContext, query, mapping, transformation_ctx) -> DynamicFrame:
    for alias, frame in mapping.items():
        frame.toDF().createOrReplaceTempView(alias)
    result = spark.sql(query)
    return DynamicFrame.fromDF(result, glueContext, transformation_ctx)


def MyTransform(glueContext, dfc) -> DynamicFrameCollection:
    df = dfc.select(list(dfc.keys())[0]).toDF().dropDuplicates(["id"])
    once = DynamicFrame.fromDF(df, glueContext, "once")
    return DynamicFrameCollection({"CustomTransform0": once}, glueContext)


## @params: [JOB_NAME]
args = getResolvedOptions(sys.argv, ["JOB_NAME"])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

# Script generated for node S3 bucket
S3bucket_node1 = glueContext.create_dynamic_frame.from_options(
    format_options={
        "quoteChar": '"',
        "withHeader": True,
        "separator": ",",
        "optimizePerformance": False,
        "inferSchema": True,
    },
    connection_type="s3",
    format="csv",
    connection_options={"paths": ["s3://landing/sales/"], "recurse": True},
    transformation_ctx="S3bucket_node1",
)

# Script generated for node ApplyMapping
ApplyMapping_node2 = ApplyMapping.apply(
    frame=S3bucket_node1,
    mappings=[
        ("id", "string", "id", "int"),
        ("amount", "string", "amount", "double"),
        ("sold at", "string", "sold_at", "timestamp"),
        ("price", "string", "price", "decimal"),
        ("name", "string", "name", "varchar"),
    ],
    transformation_ctx="ApplyMapping_node2",
)
ApplyMapping_node2.printSchema()

# Script generated for node Custom Transform
CustomTransform_node3 = MyTransform(
    glueContext, DynamicFrameCollection({"ApplyMapping_node2": ApplyMapping_node2}, glueContext)
)

# Script generated for node Select From Collection
Select_node4 = SelectFromCollection.apply(
    dfc=CustomTransform_node3,
    key=list(CustomTransform_node3.keys())[0],
    transformation_ctx="Select_node4",
)

# Script generated for node Filter
Filter_node5 = Filter.apply(
    frame=Select_node4,
    f=lambda row: (row["amount"] > 1 and bool(re.match("a|b", row["name"]))),
    transformation_ctx="Filter_node5",
)

# Script generated for node SQL Query
SqlQuery0 = """
select name, count(*) as n, sum(amount) as total from myDataSource group by name order by name
"""
SQL_node6 = sparkSqlQuery(
    glueContext,
    query=SqlQuery0,
    mapping={"myDataSource": Filter_node5},
    transformation_ctx="SQL_node6",
)
SQL_node6.show()

# Script generated for node Amazon S3
AmazonS3_node7 = glueContext.write_dynamic_frame.from_options(
    frame=Filter_node5,
    connection_type="s3",
    format="parquet",
    connection_options={"path": "s3://lake/sales/", "partitionKeys": ["name"]},
    format_options={"compression": "snappy"},
    transformation_ctx="AmazonS3_node7",
)
spark.read.parquet("s3://lake/sales/").select("id", "price", "name").orderBy("id").show()
job.commit()
