import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import GlueArgumentError, getResolvedOptions
from pyspark.context import SparkContext


def get_optional(name, default):
    if f'--{name}' in sys.argv:
        return getResolvedOptions(sys.argv, [name])[name]
    return default


base = ['JOB_NAME', 'source']
if '--target' in sys.argv:
    args = getResolvedOptions(sys.argv, base + ['target'])
else:
    args = getResolvedOptions(sys.argv, base)
try:
    limit = int(getResolvedOptions(sys.argv, ['limit'])['limit'])
except GlueArgumentError:
    limit = 0
mode = get_optional('mode', 'append')
glueContext = GlueContext(SparkContext.getOrCreate())
job = Job(glueContext)
job.init(args['JOB_NAME'], args)
df = glueContext.create_dynamic_frame.from_options(connection_type='s3', connection_options={'paths': [args['source']], 'boundedFiles': '100'}, format='parquet', transformation_ctx='raw').toDF()
if limit > 0:
    df = df.limit(limit)
if 'target' in args:
    df.write.mode(mode).parquet(args['target'])
job.commit()
