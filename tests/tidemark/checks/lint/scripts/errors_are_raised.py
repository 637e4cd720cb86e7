import logging
import sys

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

logger = logging.getLogger(__name__)
sc = SparkContext.getOrCreate()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)


def main():
    args = getResolvedOptions(sys.argv, ["JOB_NAME", "source_path", "target_path"])
    job.init(args["JOB_NAME"], args)
    try:
        orders = glueContext.create_dynamic_frame.from_options(
            "s3", {"paths": [args["source_path"]]}, "csv", {"withHeader": True}, "orders"
        )
        if orders.count() == 0:
            logger.info("nothing new")
            job.commit()
            return
        orders.toDF().write.mode("append").parquet(args["target_path"])
        job.commit()
    except Exception as e:
        logger.error(f"job failed: {e}")
        raise
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
