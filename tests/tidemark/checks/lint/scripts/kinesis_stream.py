import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue import DynamicFrame
import datetime

args = getResolvedOptions(sys.argv, ["JOB_NAME", "TempDir"])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

dataframe_AmazonKinesis_node1 = glueContext.create_data_frame.from_options(connection_type="kinesis", connection_options={"typeOfData": "kinesis", "streamARN": "arn:aws:kinesis:us-east-1:111122223333:stream/clicks", "classification": "json", "startingPosition": "earliest", "inferSchema": "true"})

def processBatch(data_frame, batchId):
    if data_frame.count() > 0:
        AmazonKinesis_node1 = DynamicFrame.fromDF(data_frame, glueContext, "from_data_frame")
        now = datetime.datetime.now()
        path = f"s3://lake/clicks/ingest_year={now.year}/"
        S3_node2 = glueContext.write_dynamic_frame.from_options(frame=AmazonKinesis_node1, connection_type="s3", format="glueparquet", connection_options={"path": path}, transformation_ctx="S3_node2")

glueContext.forEachBatch(frame=dataframe_AmazonKinesis_node1, batch_function=processBatch, options={"windowSize": "100 seconds", "checkpointLocation": args["TempDir"] + "/" + args["JOB_NAME"] + "/checkpoint/"})
job.commit()
