import sys

from awsglue.utils import getResolvedOptions
from company.glue import read_table, start_job

args = getResolvedOptions(sys.argv, ["JOB_NAME", "target"])
glue_context, job = start_job(args)
frame = read_table(glue_context, "orders")
frame.write.mode("append").parquet(args["target"])
job.commit()
