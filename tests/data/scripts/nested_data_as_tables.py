# Sample-style job: relationalize nested JSON, rename, select, and use the tables by their keys.
from awsglue.context import GlueContext
from awsglue.transforms import Relationalize, RenameField, SelectFields, UnnestFrame
from pyspark.context import SparkContext

glueContext = GlueContext(SparkContext.getOrCreate())
people = glueContext.create_dynamic_frame.from_options(
    connection_type="s3", connection_options={"paths": ["s3://landing/people/"]}, format="json"
)
tables = people.relationalize("root", "s3://temp/staging/")
print(sorted(tables.keys()))
for name in tables.keys():
    tables.select(name).toDF().orderBy("id").show()
contacts = tables.select("root_contacts")
contacts = RenameField.apply(contacts, "`contacts.val.type`", "kind")
contacts = contacts.rename_field("`contacts.val.value`", "value")
SelectFields.apply(frame=contacts, paths=["kind", "value"]).printSchema()
UnnestFrame.apply(people).drop_fields(["contacts"]).printSchema()
again = Relationalize.apply(frame=people, staging_path="s3://temp/staging/", name="again")
print(len(again))
