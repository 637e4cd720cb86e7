"""An app to which wrong declarations are made, in words that are short enough for a table."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import tidemark.constructs as tc
from tests.fixtures.pipelines import ACCOUNT, REGION, Declared, stage_of
from tidemark.model.stage.config import StageConfig


class Late:
    """A module that is imported when something of it is asked for: the CDK starts Node."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


cdk = Late("aws_cdk")
dynamodb, glue, iam, kinesis, kms, s3, secretsmanager, sns, sqs = (
    Late(f"aws_cdk.aws_{name}")
    for name in ["dynamodb", "glue", "iam", "kinesis", "kms", "s3", "secretsmanager", "sns", "sqs"]
)
KINESIS = f"arn:aws:kinesis:{REGION}:{ACCOUNT}:stream/x"
KAFKA = f"arn:aws:kafka:{REGION}:{ACCOUNT}:cluster/x/abc-1"
FIELDS = {
    "account": None,
    "region": None,
    "schedule": None,
    "workerType": "G.1X",
    "numberOfWorkers": 2,
    "timeoutMinutes": 60,
    "terminationProtection": False,
}


def token(name: str = "AWS::StackName") -> str:
    """Return a text that only a deployment knows."""
    return cdk.Token.as_string({"Ref": name})


class World(Declared):
    """One stack in one app; each method declares one thing with what a case says of it."""

    def __init__(self, root: Path) -> None:
        super().__init__(import_module("aws_cdk"), root, out=str(root / "out"))
        self.lake = s3.Bucket.from_bucket_name(self.stack, "Lake", "lake")

    def size(self) -> tuple[int, ...]:
        """Return how much is declared: what a refused declaration leaves as it is."""
        nodes = (self.app.node, self.stack.node, self.orders.node)
        return tuple(len(node.children) for node in nodes)

    def _once(self, id_: str, make: Any) -> Any:
        return self.stack.node.try_find_child(id_) or make()

    @property
    def key(self):
        arn = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/k"
        return self._once("Key", lambda: kms.Key.from_key_arn(self.stack, "Key", arn))

    @property
    def alias(self):
        return kms.Alias.from_alias_name(self.stack, "Alias", "alias/x")

    @property
    def marks(self):
        return self._once("Marks", lambda: tc.WatermarkTable(self.stack, "Marks"))

    @property
    def orders(self):
        made = self.stack.node.try_find_child("Orders")
        return made or self.pipeline("orders", watermarks=self.marks)

    def broken_rules(self) -> set[str]:
        """Return the rules that synthesis refuses what is declared by."""
        try:
            self.app.synth()
        except RuntimeError:
            report = json.loads((self.root / "out" / "validation-report.json").read_text())
            found = [each for plugin in report["pluginReports"] for each in plugin["violations"]]
            return {each["ruleName"] for each in found}
        return set()

    def elsewhere(self, region: str = "us-east-1", account: str = ACCOUNT):
        env = cdk.Environment(account=account, region=region)
        return self._stack(f"stack-{region}-{account}", env)

    def _stack(self, name: str, env: Any):
        return self.app.node.try_find_child(name) or cdk.Stack(self.app, name, env=env)

    def data(self, prefix: str = "in/", **given: Any):
        return tc.Dataset(self.lake, prefix, **{"delivered": True, "published": True, **given})

    def job(self, name: Any = "one", pipeline: Any = None, **given: Any):
        given = {"script": "job.py", "bookmark": tc.BookmarkOption.ENABLE, **given}
        return (pipeline or self.orders).add_job(name, **given)

    def shell(self, name: Any = "one", pipeline: Any = None, **given: Any):
        return (pipeline or self.orders).add_shell_job(name, **{"script": "job.py", **given})

    def stream(self, name: Any = "one", pipeline: Any = None, **given: Any):
        own = self.data("checkpoint/", delivered=False, published=False)
        given = {"script": "job.py", "checkpoint": own, **given}
        return (pipeline or self.orders).add_streaming_job(name, **given)

    def crawler(self, name: Any = "crawl", pipeline: Any = None, **given: Any):
        given = {"targets": [self.data("crawled/")], "database": "db", **given}
        return (pipeline or self.orders).add_crawler(name, **given)

    def given(self, **given: Any):
        """Return a pipeline with one job."""
        given = {"stage": stage_of(), "root": self.root, "watermarks": None, **given}
        given.setdefault("key", self.key)
        pipeline = tc.Pipeline(self.stack, "Given", **{"name": "orders", **given})
        self.job(pipeline=pipeline)
        return pipeline

    def started_by(self, *starts: Any):
        return self.given(starts=list(starts))

    def set_of(self, **given: Any):
        env = cdk.Environment(account=ACCOUNT, region=REGION)
        shared = {"stage": stage_of(), "watermarks": None, "root": self.root, "env": env}
        return tc.PipelineSet(given.pop("app", self.app), **{**shared, "key": self.key, **given})

    def lake_of(self, **given: Any):
        return tc.Lake(self.stack, "L", **{"stage": stage_of(), **given})

    def bucket(self, **given: Any):
        given = {"key": self.key, "access_logs": self.lake, **given}
        return tc.LakeBucket(self.stack, "B", **given)

    def slack(self, scope: Any = None, id_: str = "Slack", **given: Any):
        given = {"workspace_id": "T0123", "channel_id": "C0123", **given}
        given = {"stage": stage_of(), "key": self.key, **given}
        return tc.SlackChannel(scope or self.stack, id_, **given)

    def table(self, **given: Any):
        columns = [tc.Column("id", "bigint")]
        return tc.Table(**{"database": "db", "name": "t", "columns": columns, **given})

    def keyed(self, *keys: tuple[str, Any]):
        """Return a table of DynamoDB with keys."""
        names = ("partition_key", "sort_key")
        attributes = {
            name: dynamodb.Attribute(name=key, type=kind)
            for name, (key, kind) in zip(names, keys, strict=False)
        }
        return dynamodb.Table(self.stack, "T", **attributes)

    def keyed_v2(self, name: str):
        """Return a global table of DynamoDB with one key."""
        key = dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
        return dynamodb.TableV2(self.stack, "V2", partition_key=key)


def context(**fields: Any) -> StageConfig:
    """Return the stage `dev` of a cdk.json with some fields of its own."""
    return StageConfig.from_context({"stage": "dev", "tidemark:stages": {"dev": FIELDS | fields}})
