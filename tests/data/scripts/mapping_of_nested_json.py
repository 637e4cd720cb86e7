# Generated-style job: nested JSON -> ApplyMapping -> ResolveChoice -> DropNullFields -> JSON.
import sys

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

datasource0 = glueContext.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://landing/orders/"]}, "json", transformation_ctx="datasource0"
)
applymapping1 = ApplyMapping.apply(
    frame=datasource0,
    mappings=[
        ("id", "long", "order_id", "long"),
        ("customer.name", "string", "customer_name", "string"),
        ("amount", "double", "amount", "decimal(10,2)"),
        ("gone", "string", "gone", "string"),
        ("nothing", "string", "nothing", "string"),
    ],
    transformation_ctx="applymapping1",
)
resolvechoice2 = ResolveChoice.apply(
    frame=applymapping1, choice="make_struct", transformation_ctx="resolvechoice2"
)
dropnullfields3 = DropNullFields.apply(frame=resolvechoice2, transformation_ctx="dropnullfields3")
dropnullfields3.printSchema()
dropnullfields3.show()
glueContext.write_dynamic_frame.from_options(
    frame=dropnullfields3,
    connection_type="s3",
    connection_options={"path": "s3://lake/orders/"},
    format="json",
    transformation_ctx="datasink4",
)
job.commit()
