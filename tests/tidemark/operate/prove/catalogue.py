"""The catalogue: small jobs, right and wrong by construction, each with its verdicts."""

from __future__ import annotations

from tests.tidemark.operate.prove.jobs import (
    ALL,
    COMMIT,
    HEAD,
    NEW,
    WHERE_ANY,
    WINDOWS,
    case,
)

JSON = 'rows.write.mode("append").json("s3://lake/second/")'
APPEND = 'rows.write.mode("append").parquet(OUT)'
SSM = """
import boto3

ssm = boto3.client("ssm")
try:
    last = int(ssm.get_parameter(Name="/orders/last")["Parameter"]["Value"])
except ssm.exceptions.ParameterNotFound:
    last = 0
new = rows.where(F.col("id") > last).cache()
high = new.agg(F.max("id")).first()[0]
"""
NOTE = """
if high:
    ssm.put_parameter(Name="/orders/last", Value=str(high), Type="String", Overwrite=True)
"""
REPLACE = """
if high:  # an overwrite of what a repeated run writes again
    new.write.mode("overwrite").json(f"{OUT}{last}/")
"""
BATCHES = """
def write(rows, batch):
    {write}

(
    spark.readStream.schema(SCHEMA).json("s3://lake/in/").writeStream.foreachBatch(write)
    .option("checkpointLocation", "s3://lake/checkpoint/").trigger(availableNow=True)
    .start().awaitTermination()
)
"""
CATALOGUE = [
    # Jobs with a bookmark.
    case("append", NEW + WHERE_ANY + APPEND + COMMIT, "deeedde"),
    case(
        "append-json", NEW + WHERE_ANY + 'rows.write.mode("append").json(OUT)' + COMMIT, "deeedde"
    ),
    case(
        "append-csv",
        NEW + WHERE_ANY + 'rows.write.mode("append").option("header", True).csv(OUT)' + COMMIT,
        "deeedde",
    ),
    case("append-orc", NEW + WHERE_ANY + 'rows.write.mode("append").orc(OUT)' + COMMIT, "deeedde"),
    case(
        "sink",
        NEW.replace(".toDF()", "")
        + """
if rows.count():
    glue.write_dynamic_frame.from_options(rows, "s3", {"path": OUT}, "parquet")
"""
        + COMMIT,
        "deeedde",
    ),
    case(
        "append-accepted",
        NEW
        + WHERE_ANY
        + 'rows.write.mode("append").parquet(OUT)'
        + "  # tidemark: ignore[retry-appends] readers keep the newest row"
        + COMMIT,
        "aeeeaae",
    ),
    case(
        "commit-first",
        NEW + "\nrows = rows.cache()\nrows.count()" + COMMIT + WHERE_ANY + APPEND,
        "leeedde",
    ),
    case(
        "commit-in-finally",
        NEW
        + """
try:
    if rows.columns:
        rows.coalesce(1).write.mode("append").parquet(OUT)
finally:
    job.commit()
""",
        "deeedde",
        error="lost",
    ),
    case(
        "folder-of-each-run",
        NEW + WHERE_ANY + 'rows.write.parquet(OUT + args["JOB_RUN_ID"])' + COMMIT,
        "deeedde",
    ),
    case("no-commit", NEW + WHERE_ANY + APPEND, "dddddd-d"),
    case(
        "no-context",
        NEW.replace(', transformation_ctx="rows"', "") + WHERE_ANY + APPEND + COMMIT,
        "dddddded",  # what it added is cleared, and all is read again
    ),
    case(
        "two-targets",
        NEW
        + WHERE_ANY
        + APPEND
        + '\n    rows.write.mode("append").json("s3://lake/second/")'
        + COMMIT,
        "deeedde",
    ),
    case(
        "commit-between-targets",
        NEW + WHERE_ANY + APPEND + COMMIT + f"if rows.columns:\n    {JSON}\n",
        "leeedde",
    ),
    case(
        "overwrite-what-is-new",
        NEW + WHERE_ANY + 'rows.write.mode("overwrite").parquet(OUT)' + COMMIT,
        "eellllel",
    ),
    case(
        "partitions-by-day",
        NEW
        + 'spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")'
        + WHERE_ANY
        + 'rows.write.mode("overwrite").partitionBy("day").parquet(OUT)'
        + COMMIT,
        "eeeeeee",
    ),
    case(
        "partitions-of-what-comes-in-parts",
        NEW
        + 'spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")'
        + WHERE_ANY
        + 'rows.write.mode("overwrite").partitionBy("customer").parquet(OUT)'
        + COMMIT,
        "eellllel",
    ),
    case(
        "sums-of-what-is-new",
        NEW
        + WHERE_ANY
        + 'rows.groupBy("customer").agg(F.sum("amount").alias("total"))'
        + '.write.mode("append").parquet(OUT)'
        + COMMIT,
        "deccddec",
    ),
    case(
        "error-if-exists",
        NEW + WHERE_ANY + "rows.write.parquet(OUT)" + COMMIT,
        "lellffel",
    ),
    case(
        "with-time",
        NEW
        + WHERE_ANY
        + 'rows.withColumn("at", F.current_timestamp()).write.mode("append").parquet(OUT)'
        + COMMIT,
        "deeedde",
    ),
    case(
        "rewritten-in-place",
        NEW
        + """
if rows.columns:
    rows = rows.selectExpr("cast(id AS INT) id", "day", "customer", "cast(amount AS DOUBLE) amount")
    try:
        rows = rows.unionByName(spark.read.schema(rows.schema).parquet(OUT))
    except Exception as error:
        if "PATH_NOT_FOUND" not in str(error):
            raise
    rows = rows.dropDuplicates(["id"]).cache()
    rows.count()
    rows.write.mode("overwrite").parquet(OUT)
"""
        + COMMIT,
        "leeeeee",
    ),
    case(
        "puts-of-workers",
        NEW
        + """
def put(part):
    import boto3, json, uuid

    for row in part:
        body = json.dumps(row.asDict())
        boto3.client("s3").put_object(Bucket="lake", Key=f"out/{uuid.uuid4()}.json", Body=body)

if rows.columns:
    rows.foreachPartition(put)
"""
        + COMMIT,
        "deeedde",
    ),
    # Jobs that read everything.
    case("all-overwrite", ALL + 'rows.write.mode("overwrite").parquet(OUT)', "eeeede-"),
    # The mark is in SSM.
    case("mark-in-ssm-first", ALL + SSM + NOTE + REPLACE, "leelee-"),
    case("mark-in-ssm-last", ALL + SSM + REPLACE + NOTE, "eeelee-"),
    # A later run adds one file, which a crash cannot divide; the first run adds two.
    case(
        "first-load-in-two-files",
        ALL
        + """
try:
    last = spark.read.schema(SCHEMA).parquet(OUT).agg(F.max("id")).first()[0] or 0
    rows = rows.where(F.col("id") > last).coalesce(1)
except Exception as error:
    if "PATH_NOT_FOUND" not in str(error):
        raise
    rows = rows.repartition(2)
if rows.count():
    rows.write.mode("append").parquet(OUT)
""",
        "leelee-",
    ),
    # A file that arrives after a crash replaces what is staged, and was committed.
    case(
        "commit-between-stage-and-target",
        NEW
        + """
if rows.columns:
    rows.write.mode("overwrite").parquet("s3://lake/stage/")
job.commit()
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
staged = spark.read.parquet("s3://lake/stage/")
staged.write.mode("overwrite").partitionBy("day").parquet(OUT)
""",
        "leeeeee",
        ignore=("s3://lake/stage",),
    ),
    # A batch that is repeated has the number of the first attempt.
    case(
        "batches",
        HEAD + BATCHES.format(write='rows.write.mode("overwrite").parquet(f"{OUT}batch={batch}/")'),
        "eeeede-",
    ),
    case(
        "batches-append",
        HEAD + BATCHES.format(write='rows.write.mode("append").parquet(OUT)'),
        "deeede-",
    ),
    case("all-append", ALL + APPEND, "dddddd-d"),
    case(
        "all-distinct",
        ALL + 'rows.dropDuplicates(["id"]).write.mode("overwrite").parquet(OUT)',
        "eeeeee-",
    ),
    case(
        "all-sums",
        ALL
        + 'rows.dropDuplicates(["id"]).groupBy("customer").agg(F.sum("amount").alias("total"))'
        + '.write.mode("overwrite").parquet(OUT)',
        "eeeeee-",
    ),
    case(
        "all-ignore",
        ALL + 'rows.write.mode("ignore").parquet(OUT)',
        "lellee-l",
    ),
    # Jobs with a watermark.
    case(
        "windows",
        WINDOWS
        + """
for window in marks.windows(args["JOB_NAME"], high=newest(rows), **of_run):
    write_window(rows_of(rows, window), OUT, window)
""",
        "eeeleee",
    ),
    case(
        "windows-that-evolve",
        WINDOWS
        + """
from watermarks import Contract

for window in marks.windows(args["JOB_NAME"], high=newest(rows), max_rows=6, **of_run):
    part = rows_of(rows, window)
    if window.high > 30:
        part = part.withColumn("tip", F.lit(1))
    write_window(part, OUT, window, schema=Contract())
""",
        "eeeleee",
    ),
    case(
        "windows-appended",
        WINDOWS
        + """
for window in marks.windows(args["JOB_NAME"], high=newest(rows), **of_run):
    rows_of(rows, window).write.mode("append").parquet(OUT)
""",
        "deeleee",
    ),
    case(
        "watermark-before-the-write",
        WINDOWS
        + """
head = marks.latest(args["JOB_NAME"])
low = head.watermarks["id"] if head else 0
new = rows.where(F.col("id") > low)
high = new.agg(F.max("id")).first()[0]
if high is not None:
    marks.advance(job_id=args["JOB_NAME"], run_id=args["JOB_RUN_ID"], to={"id": high}, base=head)
    new.write.mode("append").parquet(OUT)
""",
        "leeleee",
    ),
    case(
        "watermark-after-the-write",
        WINDOWS
        + """
head = marks.latest(args["JOB_NAME"])
low = head.watermarks["id"] if head else 0
new = rows.where(F.col("id") > low)
high = new.agg(F.max("id")).first()[0]
if high is not None:
    new.write.mode("append").parquet(OUT)
    marks.advance(job_id=args["JOB_NAME"], run_id=args["JOB_RUN_ID"], to={"id": high}, base=head)
""",
        "deeleee",
    ),
    case(
        "watermark-last",
        WINDOWS
        + """
head = marks.latest(args["JOB_NAME"])
new = rows.where(F.col("id") > (head.watermarks["id"] if head else 0))
if new.count():
    new.write.mode("append").parquet(OUT)
    now = spark.read.schema(SCHEMA).json("s3://lake/in/").agg(F.max("id")).first()[0]
    marks.advance(job_id=args["JOB_NAME"], run_id=args["JOB_RUN_ID"], to={"id": now}, base=head)
""",
        "deeleeell",
    ),
    # A mark of one look at the input, and rows of another one.
    case(
        "watermark-of-an-earlier-look",
        WINDOWS
        + """
head = marks.latest(args["JOB_NAME"])
low = head.watermarks["id"] if head else 0
high = rows.agg(F.max("id")).first()[0]
if high > low:
    again = spark.read.schema(SCHEMA).json("s3://lake/in/")
    again.where(F.col("id") > low).write.mode("append").parquet(OUT)
    marks.advance(job_id=args["JOB_NAME"], run_id=args["JOB_RUN_ID"], to={"id": high}, base=head)
""",
        "deeleeeed",
    ),
    case(
        "keys-of-a-later-look",
        HEAD
        + """
import boto3

s3 = boto3.client("s3")

def keys():
    found = s3.list_objects_v2(Bucket="lake", Prefix="in/").get("Contents", [])
    return sorted(one["Key"] for one in found)

done = [one["Key"] for one in s3.list_objects_v2(Bucket="lake", Prefix="done").get("Contents", [])]
before = s3.get_object(Bucket="lake", Key="done")["Body"].read().decode() if done else ""
new = [f"s3://lake/{key}" for key in keys() if key > before]
if new:
    rows = spark.read.schema(SCHEMA).json(new)
    high = keys()[-1]
    rows.write.mode("overwrite").parquet(f"{OUT}after={before[3:] or 'none'}/")
    s3.put_object(Bucket="lake", Key="done", Body=high)
""",
        "eeelde-el",
        ignore=("after",),
    ),
    # Objects that boto3 writes.
    case(
        "boto3-fixed-key",
        ALL
        + """
import boto3
total = rows.agg(F.sum("amount")).first()[0]
boto3.client("s3").put_object(Bucket="lake", Key="out/total.json", Body=f'{{"total": {total}}}')
""",
        "eeeece-",
    ),
    case(
        "boto3-archive",
        NEW
        + WHERE_ANY
        + APPEND
        + COMMIT
        + """
import boto3
s3 = boto3.client("s3")
for one in s3.list_objects_v2(Bucket="lake", Prefix="in/").get("Contents", []):
    s3.copy_object(Bucket="lake", Key="archive/" + one["Key"], CopySource="lake/" + one["Key"])
    s3.delete_object(Bucket="lake", Key=one["Key"])
""",
        "deeeddlll",
    ),
    # A full load into a folder of each run; readers find the last one by the Data Catalog.
    case(
        "published-by-the-catalog",
        ALL
        + """
import boto3
from time import time_ns
place = f"s3://lake/orders/load-{time_ns()}/"
rows.dropDuplicates(["id"]).write.parquet(place)
api = boto3.client("glue")
table = {
    "Name": "orders",
    "StorageDescriptor": {"Location": place, "Columns": [{"Name": "id", "Type": "int"}]},
}
try:
    api.create_database(DatabaseInput={"Name": "lake"})
    api.create_table(DatabaseName="lake", TableInput=table)
except api.exceptions.AlreadyExistsException:
    try:
        api.create_table(DatabaseName="lake", TableInput=table)
    except api.exceptions.AlreadyExistsException:
        api.update_table(DatabaseName="lake", TableInput=table)
""",
        "eeeeee-",
    ),
    # The name of an object is the ETag of its input, and the input moves to an archive.
    case(
        "named-by-content",
        HEAD
        + """
import boto3
s3 = boto3.client("s3")
for one in s3.list_objects_v2(Bucket="lake", Prefix="in/").get("Contents", []):
    name = one["ETag"].strip('"')
    body = s3.get_object(Bucket="lake", Key=one["Key"])["Body"].read()
    lines = sorted(body.decode().splitlines(), reverse=True)
    s3.put_object(Bucket="lake", Key=f"out/{name}.json", Body="\\n".join(lines).encode())
    s3.copy_object(Bucket="lake", Key=f"done/{one['Key']}", CopySource=f"lake/{one['Key']}")
    s3.delete_object(Bucket="lake", Key=one["Key"])
""",
        "eeeeee-",
    ),
    # What Spark cannot read is noted as done.
    case(
        "swallows-a-read-of-spark",
        HEAD
        + """
import boto3
import json

s3 = boto3.client("s3")
for listed in s3.list_objects_v2(Bucket="lake", Prefix="in/")["Contents"]:
    done = listed["Key"].replace("in/", "done/")
    if s3.list_objects_v2(Bucket="lake", Prefix=done)["KeyCount"]:
        continue
    try:
        rows = spark.read.schema(SCHEMA).json(f"s3://lake/{listed['Key']}").collect()
    except Exception:
        rows = []
    for row in rows:
        s3.put_object(Bucket="lake", Key=f"out/{row.id}.json", Body=json.dumps(row.asDict()))
    s3.put_object(Bucket="lake", Key=done, Body=b"")
""",
        "eeeeee-",
        (),
        "lost",
        ignore=("s3://lake/done/",),
    ),
    # A run that is repeated names its object otherwise: `hash` has another seed in each.
    case(
        "named-by-hash",
        NEW
        + """
import boto3
import json

lines = sorted(json.dumps(row.asDict(), sort_keys=True) for row in rows.collect())
name, body = hash("".join(lines)), "\\n".join(lines)
if lines:
    boto3.client("s3").put_object(Bucket="lake", Key=f"out/{name}.json", Body=body.encode())
"""
        + COMMIT,
        "deeedde",
    ),
    # A full load whose arrays have their elements in the order of the tasks.
    case(
        "arrays-in-any-order",
        ALL
        + """
lists = rows.repartition(4).groupBy("customer").agg(F.collect_set("id").alias("ids"))
lists.write.mode("overwrite").parquet(OUT)
""",
        "eeeeee-",
    ),
]
