"""Pipelines, sets of them, lakes, buckets, datasets."""

import tidemark.constructs as tc
from tests.fixtures.pipelines import ACCOUNT, stage_of
from tests.tidemark.constructs.wrong.world import cdk, kms, token

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
    "pl run_properties empty name": (
        lambda w: w.given(run_properties={"": "x"}),
        "pipeline 'orders' has the run property ''",
    ),
    "pl run_properties secret": (
        lambda w: w.given(run_properties={"password": "hunter2"}),
        "pipeline 'orders' has the run property 'password' with a value",
    ),
    "pl run_properties NotSecret no reason": (
        lambda w: w.given(run_properties={"password": tc.NotSecret("x", "")}),
        "pipeline 'orders' has the run property 'password' as a",
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
    "set add twice": (
        lambda w: [w.set_of().add(n) for n in ("a", "a")],
        "pipeline 'a' would have the stack 'tidemark-dev-a', which the",
    ),
    "set add 2x same set": (
        lambda w: (lambda s: (s.add("a"), s.add("a")))(w.set_of()),
        "pipeline 'a' would have the stack 'tidemark-dev-a', which the",
    ),
    "lake key alias": (
        lambda w: w.lake_of(key=kms.Alias.from_alias_name(w.stack, "A", "alias/x")),
        "the lake has key 'arn:aws:kms:eu-west-1:123456789012:alias/x'",
    ),
    "lake database upper": (lambda w: w.lake_of(database="MyDb"), "the lake has database 'MyDb'"),
    "lake database empty": (lambda w: w.lake_of(database=""), "the lake has database ''"),
    "lake database token": (
        lambda w: w.lake_of(database=token()),
        "allowed: None, a Database or a CfnDatabase",
    ),
    "lakebucket days neg": (
        lambda w: tc.LakeBucket(w.stack, "B", key=w.key, access_logs=w.lake, keep_replaced_days=-1),
        "the bucket 'B' has keep_replaced_days -1",
    ),
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
