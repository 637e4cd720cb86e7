import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
from awsgluedq.transforms import EvaluateDataQuality
from awsglue import DynamicFrame

def sparkSqlQuery(glueContext, query, mapping, transformation_ctx) -> DynamicFrame:
    for alias, frame in mapping.items():
        frame.toDF().createOrReplaceTempView(alias)
    result = spark.sql(query)
    return DynamicFrame.fromDF(result, glueContext, transformation_ctx)

args = getResolvedOptions(sys.argv, ['JOB_NAME'])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args['JOB_NAME'], args)

# Script generated for node Customer Landing
CustomerLanding_node1700000000001 = glueContext.create_dynamic_frame.from_options(format_options={"multiLine": "false"}, connection_type="s3", format="json", connection_options={"paths": ["s3://lake/customer/landing/"], "recurse": True}, transformation_ctx="CustomerLanding_node1700000000001")

# Script generated for node Accelerometer
Accelerometer_node1700000000002 = glueContext.create_dynamic_frame.from_catalog(database="stedi", table_name="accelerometer", transformation_ctx="Accelerometer_node1700000000002")

# Script generated for node SQL Query
SqlQuery0 = '''
select * from customer join accelerometer on customer.email = accelerometer.user
'''
SQLQuery_node1700000000003 = sparkSqlQuery(glueContext, query = SqlQuery0, mapping = {"customer":CustomerLanding_node1700000000001, "accelerometer":Accelerometer_node1700000000002}, transformation_ctx = "SQLQuery_node1700000000003")

# Script generated for node Trusted
EvaluateDataQuality().process_rows(frame=SQLQuery_node1700000000003, ruleset="Rules = [ColumnCount > 0]", publishing_options={"dataQualityEvaluationContext": "EvaluateDataQuality_node1700000000000", "enableDataQualityResultsPublishing": True}, additional_options={"dataQualityResultsPublishing.strategy": "BEST_EFFORT", "observations.scope": "ALL"})
Trusted_node1700000000004 = glueContext.getSink(path="s3://lake/trusted/", connection_type="s3", updateBehavior="UPDATE_IN_DATABASE", partitionKeys=[], enableUpdateCatalog=True, transformation_ctx="Trusted_node1700000000004")
Trusted_node1700000000004.setCatalogInfo(catalogDatabase="stedi", catalogTableName="trusted")
Trusted_node1700000000004.setFormat("json")
Trusted_node1700000000004.writeFrame(SQLQuery_node1700000000003)
job.commit()
