# Studio-style job: two sources, Filter by a lambda, Join, DropFields of the renamed key, errors.
import sys

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
sc = SparkContext.getOrCreate()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

customers = glueContext.create_dynamic_frame.from_options(
    format_options={"withHeader": True, "separator": ","},
    connection_type="s3",
    format="csv",
    connection_options={"paths": ["s3://landing/customers/"], "recurse": True},
)
orders = DynamicFrame.fromDF(
    spark.createDataFrame([("1", 5), ("1", 7), ("2", 1)], ["customerId", "n"]), glueContext, "orders"
)
consenting = Filter.apply(frame=customers, f=lambda row: (not (row["share"] in (None, ""))))
joined = Join.apply(frame1=consenting, frame2=orders, keys1=["customerId"], keys2=["customerId"])
dropped = DropFields.apply(frame=joined, paths=["`.customerId`", "share"])


def with_label(record):
    record["label"] = record["name"].upper()
    return record


labelled = Map.apply(frame=dropped, f=with_label)
parts = labelled.split_rows({"n": {">": 5}}, "many", "few")
chosen = SelectFromCollection.apply(dfc=parts, key=list(parts.keys())[0])
chosen.show()
print("rows", labelled.count(), "errors", labelled.errorsCount())
job.commit()
