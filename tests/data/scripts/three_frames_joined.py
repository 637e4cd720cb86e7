# Tutorial style: three JSON sources, nested positional joins, relationalize, every table to CSV.
import sys

from awsglue.context import GlueContext
from awsglue.transforms import *
from pyspark.context import SparkContext

glueContext = GlueContext(SparkContext.getOrCreate())


def read(name):
    return glueContext.create_dynamic_frame.from_options(
        "s3", {"paths": ["s3://landing/" + name + "/"]}, "json"
    )


people, posts, offices = read("people"), read("posts"), read("offices")
print("people:", people.count())
offices = offices.drop_fields(["aliases"]).rename_field("id", "office_id")
offices = offices.rename_field("name", "office_name")
history = Join.apply(
    offices, Join.apply(people, posts, "id", "person_id"), "office_id", "holder_of"
).drop_fields(["person_id", "office_id"])
print("history:", history.count())
history.printSchema()
history.toDF().write.parquet("s3://lake/history", partitionBy=["office_name"])
tables = history.relationalize("root", "s3://temp/staging/")
for name in tables.keys():
    table = tables.select(name)
    print(name, table.count(), table.toDF().columns)
    glueContext.write_dynamic_frame.from_options(
        table, "s3", {"path": "s3://lake/tables/" + name}, "csv"
    )
tables.select("root_phones").toDF().orderBy(["id", "index"]).show()
