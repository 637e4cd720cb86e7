import sys
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions


class Legislators:
    def __init__(self):
        params = []
        if '--JOB_NAME' in sys.argv:
            params.append('JOB_NAME')
        args = getResolvedOptions(sys.argv, params)

        self.context = GlueContext(SparkContext.getOrCreate())
        self.job = Job(self.context)

        if 'JOB_NAME' in args:
            jobname = args['JOB_NAME']
        else:
            jobname = "test"
        self.job.init(jobname, args)

    def run(self):
        dyf = read_json(self.context, "s3://examples/us-legislators/all/persons.json")
        dyf.printSchema()
        self.save(dyf)
        self.job.commit()

    def save(self, dyf):
        dyf.toDF().write.mode("append").parquet("s3://lake/persons/")


def read_json(glue_context, path):
    return glue_context.create_dynamic_frame.from_options(
        connection_type='s3',
        connection_options={'paths': [path], 'recurse': True},
        format='json',
        transformation_ctx='persons',
    )


if __name__ == '__main__':
    Legislators().run()
