"""Pipelines, sets of them, lakes, buckets, datasets."""

from pathlib import Path

import tidemark.constructs as tc
from tests.fixtures.pipelines import ACCOUNT, KEY, REGION, stage_of
from tests.tidemark.constructs.wrong.world import cdk, dynamodb, kms, sns, token

# What is declared, and a part of why it is refused.
WRONG = {
    "pl name 65": (lambda w: w.pipeline("a" * 65), "pipeline name"),
    "pl name token": (
        lambda w: w.pipeline(token()),
        "allowed: up to 64 lower case letters, digits and single",
    ),
    "pl name underscore": (
        lambda w: w.pipeline("my_orders"),
        "pipeline name 'my_orders' is not in kebab case",
    ),
    "pl name trailing newline": (
        lambda w: w.pipeline("orders\n"),
        "pipeline name 'orders\\n' is not in kebab case",
    ),
    "pl name unicode": (
        lambda w: w.pipeline("bestellungen-ä"),
        "pipeline name 'bestellungen-ä' is not in kebab case",
    ),
    "pl root missing": (
        lambda w: w.given(root="/nowhere"),
        "pipeline 'orders' has root '/nowhere'",
    ),
    "pl root empty str": (
        lambda w: w.given(root=""),
        "job 'one' has the script 'job.py', which is not a file",
    ),
    "pl root bytes": (lambda w: w.given(root=b"/tmp"), "pipeline 'orders' has root b'/tmp'"),
    "pl stage dict": (
        lambda w: w.given(stage={"name": "dev"}),
        "pipeline 'orders' has stage {'name': 'dev'}",
    ),
    "pl stage str": (lambda w: w.given(stage="dev"), "pipeline 'orders' has stage 'dev'"),
    "pl watermarks Table": (
        lambda w: w.given(watermarks=dynamodb.Table.from_table_name(w.stack, "T", "t")),
        "allowed: a WatermarkTable, or None",
    ),
    "pl key str": (lambda w: w.given(key=KEY), "pipeline 'orders' has key"),
    "pl key alias": (
        lambda w: w.given(key=kms.Alias.from_alias_name(w.stack, "Al", "alias/x")),
        "pipeline 'orders' has key",
    ),
    "pl key of other region": (
        lambda w: w.given(
            key=kms.Key.from_key_arn(w.stack, "K2", "arn:aws:kms:us-east-1:123456789012:key/k")
        ),
        "pipeline 'orders' has key in the region us-east-1",
    ),
    "pl key alias arn as key": (
        lambda w: w.given(
            key=kms.Key.from_key_arn(w.stack, "K2", "arn:aws:kms:eu-west-1:123456789012:alias/k")
        ),
        "pipeline 'orders' has key",
    ),
    "pl run_properties list": (
        lambda w: w.given(run_properties=["a"]),
        "pipeline 'orders' has run_properties of another kind: ['a']",
    ),
    "pl run_properties int value": (
        lambda w: w.given(run_properties={"a": 1}),
        "pipeline 'orders' has run_properties of another kind: 'a'",
    ),
    "pl run_properties empty name": (
        lambda w: w.given(run_properties={"": "x"}),
        "pipeline 'orders' has run_properties of another kind: ''",
    ),
    "pl run_properties secret": (
        lambda w: w.given(run_properties={"password": "hunter2"}),
        "pipeline 'orders' has the run property 'password' with a value",
    ),
    "pl run_properties NotSecret no reason": (
        lambda w: w.given(run_properties={"password": tc.NotSecret("x", "")}),
        "pipeline 'orders' has the run property 'password' as a",
    ),
    "pl alerts str": (
        lambda w: w.given(alerts="ops@acme.com"),
        "pipeline 'orders' has alerts 'ops@acme.com'",
    ),
    "pl alerts Email": (
        lambda w: w.given(alerts=tc.Email("ops@acme.com")),
        "pipeline 'orders' has alerts Email(address='ops@acme.com')",
    ),
    "pl alerts list": (
        lambda w: w.given(alerts=[tc.Email("ops@acme.com")]),
        "pipeline 'orders' has alerts [Email(address='ops@acme.com')]",
    ),
    "pl alerts topic": (
        lambda w: w.given(alerts=sns.Topic(w.stack, "T")),
        "allowed: None, or Alerting(topic=..., subscribers=[...])",
    ),
    "pl security str": (
        lambda w: w.given(security="conf"),
        "pipeline 'orders' has security 'conf'",
    ),
    "pl security class": (
        lambda w: w.given(security=tc.ExistingSecurity),
        "pipeline 'orders' has security <class",
    ),
    "pl log_groups bool": (
        lambda w: w.given(log_groups=False),
        "pipeline 'orders' has log_groups False",
    ),
    "pl log_groups str": (
        lambda w: w.given(log_groups="existing"),
        "pipeline 'orders' has log_groups 'existing'",
    ),
    "pl glue_arguments dict": (
        lambda w: w.given(glue_arguments={"--conf": "x"}),
        "pipeline 'orders' has glue_arguments {'--conf': 'x'}",
    ),
    "pl glue_arguments class": (
        lambda w: w.given(glue_arguments=tc.GlueArguments),
        "pipeline 'orders' has glue_arguments <class",
    ),
    "pl twice same name": (
        lambda w: (w.pipeline("given"), w.pipeline("given")),
        "pipeline 'given' would have the construct id 'Given', which",
    ),
    "pl other env than stage": (
        lambda w: tc.Pipeline(
            cdk.Stack(w.app, "s2", env=cdk.Environment(account="999999999999", region="us-east-1")),
            "X",
            name="orders",
            root=w.root,
            stage=stage_of(),
            watermarks=None,
            key=w.key,
        ),
        "pipeline 'orders' has the stage 'dev', which is in the account",
    ),
    "pl watermarks of other region": (
        lambda w: tc.Pipeline(
            cdk.Stack(w.app, "s2", env=cdk.Environment(account=ACCOUNT, region="us-east-1")),
            "X",
            name="orders",
            root=w.root,
            stage=stage_of(region="us-east-1"),
            watermarks=w.marks,
            key=w.key,
        ).add_job("one", script="job.py", bookmark=tc.BookmarkOption.ENABLE, watermark=True),
        "pipeline 'orders' has key in the region eu-west-1",
    ),
    "set add bad name": (lambda w: w.set_of().add("A"), "pipeline name 'A' is not in kebab case"),
    "set add none": (lambda w: w.set_of().add(None), "pipeline name None is not in kebab case"),
    "set add twice": (
        lambda w: [w.set_of().add(n) for n in ("a", "a")],
        "pipeline 'a' would have the stack 'tidemark-dev-a', which the",
    ),
    "set add 2x same set": (
        lambda w: (lambda s: (s.add("a"), s.add("a")))(w.set_of()),
        "pipeline 'a' would have the stack 'tidemark-dev-a', which the",
    ),
    "set env none": (
        lambda w: tc.PipelineSet(
            w.app, stage=stage_of(), watermarks=None, key=w.key, root=w.root, env=None
        ).add("a"),
        "the PipelineSet has env None",
    ),
    "set env tuple": (
        lambda w: tc.PipelineSet(
            w.app, stage=stage_of(), watermarks=None, key=w.key, root=w.root, env=(ACCOUNT, REGION)
        ).add("a"),
        "the PipelineSet has env ('123456789012', 'eu-west-1')",
    ),
    "set app is stack": (
        lambda w: tc.PipelineSet(
            w.stack,
            stage=stage_of(),
            watermarks=None,
            key=w.key,
            root=w.root,
            env=cdk.Environment(),
        ).add("a"),
        "allowed: a cdk.App, or a cdk.Stage",
    ),
    "set app none": (
        lambda w: tc.PipelineSet(
            None, stage=stage_of(), watermarks=None, key=w.key, root=w.root, env=cdk.Environment()
        ).add("a"),
        "the PipelineSet has app None",
    ),
    "set stage str": (
        lambda w: tc.PipelineSet(
            w.app, stage="dev", watermarks=None, key=w.key, root=w.root, env=cdk.Environment()
        ).add("a"),
        "the PipelineSet has stage 'dev'",
    ),
    "set root none": (
        lambda w: tc.PipelineSet(
            w.app, stage=stage_of(), watermarks=None, key=w.key, root=None, env=cdk.Environment()
        ).add("a"),
        "the PipelineSet has root None",
    ),
    "set key none": (
        lambda w: tc.PipelineSet(
            w.app, stage=stage_of(), watermarks=None, key=None, root=w.root, env=cdk.Environment()
        ).add("a"),
        "the PipelineSet has key None",
    ),
    "set key none empty": (
        lambda w: tc.PipelineSet(
            w.app, stage=stage_of(), watermarks=None, key=None, root=w.root, env=cdk.Environment()
        ),
        "the PipelineSet has key None",
    ),
    "set alerts wrong": (lambda w: w.set_of().add("a", alerts="x"), "pipeline 'a' has alerts 'x'"),
    "lake stage none": (lambda w: tc.Lake(w.stack, "L", stage=None), "the lake has stage None"),
    "lake stage dict": (lambda w: tc.Lake(w.stack, "L", stage={}), "the lake has stage {}"),
    "lake watermarks str": (
        lambda w: w.lake_of(watermarks="glue-watermarks"),
        "the lake has watermarks 'glue-watermarks'",
    ),
    "lake watermarks table": (
        lambda w: w.lake_of(watermarks=dynamodb.Table.from_table_name(w.stack, "T", "t")),
        "allowed: None, or WatermarkTable.from_table_name(...)",
    ),
    "lake key str": (lambda w: w.lake_of(key="alias/x"), "the lake has key 'alias/x'"),
    "lake key alias": (
        lambda w: w.lake_of(key=kms.Alias.from_alias_name(w.stack, "A", "alias/x")),
        "the lake has key 'arn:aws:kms:eu-west-1:123456789012:alias/x'",
    ),
    "lake buckets dict": (
        lambda w: w.lake_of(buckets={"raw": w.lake}),
        "allowed: None, or ExistingBuckets(landing=..., ...)",
    ),
    "lake buckets bucket": (
        lambda w: w.lake_of(buckets=w.lake),
        "allowed: None, or ExistingBuckets(landing=..., ...)",
    ),
    "lake database upper": (lambda w: w.lake_of(database="MyDb"), "the lake has database 'MyDb'"),
    "lake database empty": (lambda w: w.lake_of(database=""), "the lake has database ''"),
    "lake database token": (
        lambda w: w.lake_of(database=token()),
        "allowed: None, or a name of lower case letters, digits, _ -",
    ),
    "lake database list": (lambda w: w.lake_of(database=["x"]), "the lake has database ['x']"),
    "buckets str": (
        lambda w: tc.ExistingBuckets(raw="my-bucket"),
        "ExistingBuckets has raw 'my-bucket'",
    ),
    "lakebucket days neg": (
        lambda w: tc.LakeBucket(w.stack, "B", key=w.key, access_logs=w.lake, keep_replaced_days=-1),
        "the bucket 'B' has keep_replaced_days -1",
    ),
    "lakebucket days str": (
        lambda w: tc.LakeBucket(
            w.stack, "B", key=w.key, access_logs=w.lake, keep_replaced_days="90"
        ),
        "the bucket 'B' has keep_replaced_days '90'",
    ),
    "lakebucket days bool": (
        lambda w: tc.LakeBucket(
            w.stack, "B", key=w.key, access_logs=w.lake, keep_replaced_days=True
        ),
        "the bucket 'B' has keep_replaced_days True",
    ),
    "lakebucket days float": (
        lambda w: tc.LakeBucket(
            w.stack, "B", key=w.key, access_logs=w.lake, keep_replaced_days=1.5
        ),
        "the bucket 'B' has keep_replaced_days 1.5",
    ),
    "lakebucket key none": (
        lambda w: tc.LakeBucket(w.stack, "B", key=None, access_logs=w.lake),
        "the bucket 'B' has key None",
    ),
    "lakebucket logs none": (
        lambda w: tc.LakeBucket(w.stack, "B", key=w.key, access_logs=None),
        "the bucket 'B' has access_logs None",
    ),
    "lakebucket logs str": (
        lambda w: tc.LakeBucket(w.stack, "B", key=w.key, access_logs="logs"),
        "the bucket 'B' has access_logs 'logs'",
    ),
    "stagekey none": (lambda w: tc.StageKey(w.stack, "SK", stage=None), "the key has stage None"),
    "stagekey str": (lambda w: tc.StageKey(w.stack, "SK", stage="dev"), "the key has stage 'dev'"),
    "ds bucket str": (lambda w: tc.Dataset("lake", "in/"), "dataset 'in/' has the bucket 'lake'"),
    "ds bucket none": (lambda w: tc.Dataset(None, "in/"), "dataset 'in/' has the bucket None"),
    "ds bucket construct": (lambda w: tc.Dataset(w.stack, "in/"), "allowed: a bucket"),
    "ds bucket lake": (lambda w: tc.Dataset(w.lake_of(), "in/"), "allowed: a bucket"),
    "ds prefix empty": (lambda w: tc.Dataset(w.lake, ""), "dataset prefix '' is not a folder"),
    "ds prefix slash": (lambda w: tc.Dataset(w.lake, "/"), "dataset prefix '/' is not a folder"),
    "ds prefix no slash": (
        lambda w: tc.Dataset(w.lake, "in"),
        "dataset prefix 'in' is not a folder",
    ),
    "ds prefix leading": (
        lambda w: tc.Dataset(w.lake, "/in/"),
        "dataset prefix '/in/' is not a folder",
    ),
    "ds prefix double": (
        lambda w: tc.Dataset(w.lake, "in//x/"),
        "dataset prefix 'in//x/' is not a folder",
    ),
    "ds prefix star": (
        lambda w: tc.Dataset(w.lake, "in/*/"),
        "dataset prefix 'in/*/' is not a folder",
    ),
    "ds prefix token": (
        lambda w: tc.Dataset(w.lake, token()),
        "allowed: letters, digits and _.=- in names that each end with a",
    ),
    "ds prefix newline": (
        lambda w: tc.Dataset(w.lake, "in/\n"),
        "dataset prefix 'in/\\n' is not a folder",
    ),
    "ds prefix s3": (
        lambda w: tc.Dataset(w.lake, "s3://lake/in/"),
        "dataset prefix 's3://lake/in/' is not a folder",
    ),
    "ds prefix path": (
        lambda w: tc.Dataset(w.lake, Path("in/")),
        "dataset prefix PosixPath('in') is not a folder",
    ),
    "ds delivered int": (
        lambda w: tc.Dataset(w.lake, "in/", delivered=1),
        "dataset 'in/' has delivered 1",
    ),
    "ds published none": (
        lambda w: tc.Dataset(w.lake, "in/", published=None),
        "dataset 'in/' has published None",
    ),
}
# What looks wrong and is not.
VALID = {
    "pl run_properties token": lambda w: w.given(run_properties={"a": token()}),
    "pl alerts empty Alerting": lambda w: w.given(alerts=tc.Alerting()),
    "lake database none ok": lambda w: w.lake_of(database=None),
    "lake twice": lambda w: (w.lake_of(), tc.Lake(w.stack, "L2", stage=stage_of())),
    "buckets same twice": lambda w: w.lake_of(
        buckets=tc.ExistingBuckets(raw=w.lake, curated=w.lake)
    ),
}
# What a rule of the graph refuses at synthesis, and the rule.
REFUSED_AT_SYNTHESIS = {
    "pl twice same name other id": (
        lambda w: (
            w.orders,
            tc.Pipeline(
                w.stack,
                "Other",
                name="orders",
                root=w.root,
                stage=stage_of(),
                watermarks=None,
                key=w.key,
            ),
        ),
        "no-start",
    ),
    "pl no jobs": (lambda w: w.pipeline("orders"), "no-start"),
    "pl starts stream only": (
        lambda w: w.stream(pipeline=w.pipeline("x", starts=[tc.Schedule("rate(1 day)")])),
        "starts-nothing",
    ),
}
