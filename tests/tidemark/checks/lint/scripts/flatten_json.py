import sys
from awsglue.transforms import Relationalize
from awsglue.utils import getResolvedOptions
from awsglue.context import GlueContext
from awsglue.job import Job
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ['JOB_NAME', 'TempDir'])
glue_context = GlueContext(SparkContext())
job = Job(glue_context)
job.init(args['JOB_NAME'], args)
nested = glue_context.create_dynamic_frame.from_options(connection_type='s3', connection_options={'paths': ['s3://lake/nested/'], 'recurse': True}, format='json', transformation_ctx='nested')
flat = Relationalize.apply(frame=nested, staging_path=args['TempDir'], name='root', transformation_ctx='flat')
for name in flat.keys():
    glue_context.write_dynamic_frame.from_options(frame=flat.select(name), connection_type='s3', connection_options={'path': 's3://lake/flat/' + name}, format='parquet')
job.commit()
