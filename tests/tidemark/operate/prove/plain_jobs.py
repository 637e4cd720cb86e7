"""Jobs of the catalogue that use boto3 alone: what they note, and when, is in sight."""

from __future__ import annotations

from tests.tidemark.operate.prove.jobs import Case, case

HEAD = """
import json, uuid
import boto3
from botocore.exceptions import ClientError

s3 = boto3.client("s3")
items = boto3.client("dynamodb")


def keys(prefix):
    listed = s3.list_objects_v2(Bucket="lake", Prefix=prefix).get("Contents", [])
    return [entry["Key"] for entry in listed]


def read(key):
    return s3.get_object(Bucket="lake", Key=key)["Body"].read().decode()


def put(key, text):
    s3.put_object(Bucket="lake", Key=key, Body=text.encode())


def state(otherwise):
    try:
        return json.loads(read("state/state.json"))
    except s3.exceptions.NoSuchKey:
        return otherwise


def name_of(key):
    return key.rpartition("/")[2]


def rows_of(key):
    return [json.loads(line) for line in read(key).splitlines()]


def table(name):
    try:
        items.create_table(
            TableName=name, BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        )
    except items.exceptions.ResourceInUseException:
        pass
"""
NEW = """
done = state([])
for key in [key for key in keys("in/") if key not in done]:
"""
NOTE = 'done.append(key)\n    put("state/state.json", json.dumps(done))'
RANDOM = 'put(f"out/{uuid.uuid4()}.json", read(key))'
NAMED = 'put(f"out/{name_of(key)}", read(key))'
STATE = ("s3://lake/state/",)
BATCH = """
    wanted = {"counts": [
        {"PutRequest": {"Item": {"id": {"S": str(row["id"])}, "day": {"S": row["day"]}}}}
        for row in rows_of(key)
    ]}
    %s
    """

SENDER = """
sns = boto3.client("sns")
topic = sns.create_topic(Name="loads")["TopicArn"]


def send(rows):
    return sns.publish_batch(TopicArn=topic, PublishBatchRequestEntries=[
        {"Id": str(row["id"]), "Message": json.dumps(row)} for row in rows
    ])
"""
SENDS = """rows = rows_of(key)
    %s
    """


DAYS = """
glue = boto3.client("glue")
try:
    glue.create_database(DatabaseInput={"Name": "db"})
except glue.exceptions.AlreadyExistsException:
    pass
try:
    storage = {"Location": "s3://lake/out/", "Columns": [{"Name": "id", "Type": "bigint"}]}
    glue.create_table(DatabaseName="db", TableInput={
        "Name": "days", "PartitionKeys": [{"Name": "of", "Type": "string"}],
        "StorageDescriptor": storage,
    })
except glue.exceptions.AlreadyExistsException:
    pass
"""
REGISTERED = """
    days = [
        {"Values": [day], "StorageDescriptor": {"Location": f"s3://lake/out/{day}/"}}
        for day in (f"{name_of(key)}-1", f"{name_of(key)}-2")
    ]
    answer = glue.batch_create_partition(
        DatabaseName="db", TableName="days", PartitionInputList=days
    )
"""


def _new(name: str, body: str, verdicts: str, error: str = "", head: str = "") -> Case:
    return case(name, f"{HEAD}{head}{NEW}    {body}\n", verdicts, (), error, STATE)


PLAIN = [
    case(
        "copy-by-name",
        f'{HEAD}\nfor key in keys("in/"):\n    {NAMED}\n',
        "eeeede-",
        (),
    ),
    case(
        "one-object-of-all",
        f'{HEAD}\nput("out/all.json", "".join(read(key) for key in keys("in/")))\n',
        "eeeede-",
        (),
    ),
    _new("named-and-noted", f"{NAMED}\n    {NOTE}", "eeeede-"),
    _new("random-then-noted", f"{RANDOM}\n    {NOTE}", "deeede-"),
    _new("noted-then-written", f"{NOTE}\n    {NAMED}", "leeede-"),
    _new(
        "registers-days-and-ignores-the-answer",
        f"""{NAMED}
    {NOTE}
{REGISTERED}""",
        "leeede-",
        "lost",
        head=DAYS,
    ),
    _new(
        "registers-days-until-none-is-left",
        f"""{NAMED}
{REGISTERED}
    codes = {{error["ErrorDetail"]["ErrorCode"] for error in answer["Errors"]}}
    assert codes <= {{"AlreadyExistsException"}}
    {NOTE}""",
        "eeeede-",
        "equal",
        head=DAYS,
    ),
    _new(
        "total-of-an-object",
        f"""old = keys("out/") and json.loads(read("out/total.json"))["total"] or 0
    total = old + sum(row["amount"] for row in rows_of(key))
    put("out/total.json", json.dumps({{"total": total}}))
    {NOTE}""",
        "ceeece-",
    ),
    _new(
        "swallows-a-refused-write",
        f"""try:
        {NAMED}
    except ClientError as error:
        print("later", error)
    {NOTE}""",
        "eeeede-",
        "lost",
    ),
    _new(
        "repeats-under-a-new-name",
        f"""for attempt in range(3):
        try:
            {RANDOM}
            break
        except ClientError:
            continue
    {NOTE}""",
        "deeede-",
        "doubled",
    ),
    _new(
        "repeats-under-its-name",
        f"""for attempt in range(3):
        try:
            {NAMED}
            break
        except ClientError:
            if attempt == 2:
                raise
    {NOTE}""",
        "eeeede-",
        "equal",
    ),
    _new(
        "swallows-a-refused-read",
        f"""try:
        text = read(key)
    except ClientError:
        text = ""
    put(f"out/{{name_of(key)}}", text)
    {NOTE}""",
        "eeeede-",
        "lost",
    ),
    _new(
        "leaves-what-is-unprocessed",
        f"{BATCH % 'items.batch_write_item(RequestItems=wanted)'}{NOTE}",
        "eeeeee-",
        "lost",
        'table("counts")\n',
    ),
    _new(
        "sends-what-is-unprocessed",
        BATCH
        % """while wanted:
        wanted = items.batch_write_item(RequestItems=wanted)["UnprocessedItems"]"""
        + NOTE,
        "eeeeee-",
        "equal",
        'table("counts")\n',
    ),
    _new(
        "adds-to-items",
        f"""for row in rows_of(key):
        items.update_item(
            TableName="totals", Key={{"id": {{"S": row["customer"]}}}},
            UpdateExpression="ADD added :n",
            ExpressionAttributeValues={{":n": {{"N": str(row["amount"])}}}},
        )
    {NOTE}""",
        "ceeece-",
        head='table("totals")\n',
    ),
    _new("leaves-what-is-not-sent", f"{SENDS % 'send(rows)'}{NOTE}", "deeede-", "lost", SENDER),
    _new(
        "sends-what-is-not-sent",
        SENDS
        % """while rows:
        failed = {entry["Id"] for entry in send(rows).get("Failed", [])}
        rows = [row for row in rows if str(row["id"]) in failed]"""
        + NOTE,
        "deeede-",
        "equal",
        SENDER,
    ),
    # What it writes is its input, moved: an archive, which keeps each delivery.
    case(
        "moves-its-input-first",
        f"""{HEAD}
for key in keys("in/"):
    text = read(key)
    s3.delete_object(Bucket="lake", Key=key)
    put(f"out/{{name_of(key)}}", text)
""",
        "leeeee-",
        (),
    ),
    case(
        "moves-its-input-last",
        f"""{HEAD}
for key in keys("in/"):
    {NAMED}
    s3.delete_object(Bucket="lake", Key=key)
""",
        "eeeeee-",
        (),
    ),
    _new(
        "rejects-to-a-hidden-folder",
        f"""rows = rows_of(key)
    put(f"out/{{name_of(key)}}", json.dumps(rows[0]))
    put(f"_rejected/{{uuid.uuid4()}}.json", json.dumps(rows[1]))
    {NOTE}""",
        "deeede-",
    ),
    Case(
        "mark-of-the-newest-time",
        f"""{HEAD}
mark = top = state("")
for entry in s3.list_objects_v2(Bucket="lake", Prefix="in/").get("Contents", []):
    at, key = entry["LastModified"].isoformat(), entry["Key"]
    if at > mark:
        {NAMED}
        top = max(top, at)
put("state/state.json", json.dumps(top))
""",
        {"crash": "equal", "again": "equal", "parts": "equal", "order": "equal", "tied": "lost"},
        (),
        STATE,
    ),
    Case(
        "pointer-to-a-new-folder",
        f"""{HEAD}
version = uuid.uuid4()
for key in keys("in/"):
    put(f"out/v-{{version}}/{{name_of(key)}}", read(key))
put("out/current.json", json.dumps({{"folder": f"out/v-{{version}}/"}}))
""",
        dict.fromkeys(("crash", "again", "parts", "order", "tied", "meanwhile"), "equal"),
        (),
    ),
    # A second delivery adds its name to the list of files, and no row.
    case(
        "rows-and-their-files-in-one-object",
        f"""{HEAD}
new = {{"files": [], "rows": {{}}}}
try:
    new = json.loads(read("out/index.json"))
except s3.exceptions.NoSuchKey:
    pass
for key in [key for key in keys("in/") if key not in new["files"]]:
    new["rows"].update({{str(row["id"]): row for row in rows_of(key)}})
    new["files"].append(key)
new["files"].sort()
put("out/index.json", json.dumps(new, sort_keys=True))
""",
        "eeeeee-",
        (),
    ),
    case(
        "lock-of-a-dead-run",
        f"""{HEAD}
if keys("lock"):
    raise SystemExit(0)
put("lock", "1")
for key in [key for key in keys("in/") if f"out/{{name_of(key)}}" not in keys("out/")]:
    {NAMED}
s3.delete_object(Bucket="lake", Key="lock")
""",
        "leeede-",
        (),
    ),
    case(
        "compacts-and-then-deletes",
        f"""{HEAD}
for key in [key for key in keys("in/") if f"done/{{name_of(key)}}" not in keys("done/")]:
    {NAMED}
    put(f"done/{{name_of(key)}}", "")
small = keys("out/")
if len(small) > 1:
    put(f"out/all-{{uuid.uuid4()}}.json", "".join(map(read, small)))
    s3.delete_objects(Bucket="lake", Delete={{"Objects": [{{"Key": key}} for key in small]}})
""",
        "deeede-",
        (),
    ),
    # Of a batch of one object, nothing may be deleted.
    case(
        "old-snapshot-stays",
        f"""{HEAD}
listed = ",".join(keys("in/"))
if listed != state(""):
    old = keys("out/")
    if old:
        s3.delete_objects(Bucket="lake", Delete={{"Objects": [{{"Key": key}} for key in old]}})
    put(f"out/{{uuid.uuid4().hex[:8]}}.json", "".join(map(read, keys("in/"))))
    put("state/state.json", json.dumps(listed))
""",
        "eeeede-",
        (),
        "doubled",
        ignore=STATE,
    ),
    # Readers read all folders: the mark lists the runs, and does not say where their rows are.
    case(
        "log-of-runs",
        f"""{HEAD}
done, run = state({{"files": [], "runs": []}}), str(uuid.uuid4())
new = [key for key in keys("in/") if key not in done["files"]]
for key in new:
    put(f"out/{{run}}/{{name_of(key)}}", read(key))
if new:
    done = {{"files": sorted(done["files"] + new), "runs": done["runs"] + [run]}}
    put("state/state.json", json.dumps(done))
""",
        "deeede-",
        (),
        ignore=STATE,
    ),
    # Readers read the files that the manifest names: those of a dead run are not among them.
    Case(
        "files-of-a-manifest",
        f"""{HEAD}
listed = {{"inputs": [], "files": []}}
if keys("out/manifest"):
    listed = json.loads(read("out/manifest.json"))
new = [key for key in keys("in/") if key not in listed["inputs"]]
if new:
    made = f"out/data/{{uuid.uuid4()}}.json"
    put(made, "".join(map(read, new)))
    listed = {{"inputs": listed["inputs"] + new, "files": listed["files"] + [made]}}
    put("out/manifest.json", json.dumps(listed))
""",
        dict.fromkeys(("crash", "again", "parts", "order", "tied", "meanwhile"), "equal"),
        (),
    ),
]
