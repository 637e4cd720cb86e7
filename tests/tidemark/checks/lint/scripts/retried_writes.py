import sys
import time
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "run_mode"])
glueContext = GlueContext(SparkContext.getOrCreate())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)
if args["run_mode"] == "catalog":
    frame = glueContext.create_dynamic_frame_from_catalog(database="db", table_name="events", transformation_ctx="events")
else:
    source = glueContext.getSource("s3", format="json", transformation_ctx="events", paths=["s3://lake/events/"])
    frame = source.getFrame()

for attempt in range(3):
    try:
        glueContext.write_dynamic_frame_from_options(frame=frame, connection_type="dynamodb", connection_options={"dynamodb.output.tableName": "events"})
        break
    except Exception as error:
        print(error)
        time.sleep(2 ** attempt)
else:
    raise RuntimeError("gave up")
job.commit()
