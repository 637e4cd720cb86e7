"""What roles of every kind need by the documents of AWS: all of it is allowed, and nothing else.

What the sample's Spark jobs do is recorded: tests/e2e/test_story.py. Crawlers, streams, catalogs
and networks are AWS's alone, so what is asked there is what its documents say. Each request here
comes from what tests/fixtures/everything.py declares, not from a policy.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.e2e.simulation import by_folder, grants, is_allowed, policies_of, without
from tests.fixtures.everything import GROUP, SUBNET, declare_everything
from tests.fixtures.pipelines import ACCOUNT, REGION
from tests.tidemark.constructs.requests_of_roles import (
    GLUE,
    Request,
    commits_iceberg,
    crawls,
    each,
    hive,
    in_catalog,
    joins,
    logs,
    logs_optimizers,
    metrics,
    reads,
    reads_tables,
    stream,
    topics,
    uses_application,
    uses_connections,
    uses_key,
    writes,
    writes_tables,
)
from tidemark.model.assembly.cloud_assembly import read_assembly
from tidemark.model.assembly.template import resolve_stacks

pytestmark = pytest.mark.synth
OTHER = f"arn:aws:glue:{REGION}:999988887777:"
SECRET = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:"
RESOLVED = ("AWS::IAM::", "AWS::Glue::Job", "AWS::Logs::")
# An action is asked of these types of resources; allowed on another type it allows nothing.
# Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsglue.html and
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
TYPES = {
    "glue:CreateDatabase": {"catalog", "database"},
    "glue:GetDatabase": {"catalog", "database"},
    "glue:GetDatabases": {"catalog", "database"},
    "glue:GetTables": {"catalog", "database", "table"},
    "glue:GetUserDefinedFunctions": {"catalog", "database", "userDefinedFunction"},
}


class App:
    """The synthesized app: what its resources are called, and what its roles allow."""

    def __init__(self, folder: Any) -> None:
        self.resources: dict[str, dict[str, Any]] = {}
        self.storage: list[str] = []
        for stack, scope in resolve_stacks(read_assembly(folder), REGION, may_guess=True):
            for output in stack.template.get("Outputs", {}).values():
                self.storage.append(scope.resolve(output["Value"]))
            for id_, resource in stack.template["Resources"].items():
                properties = dict(resource.get("Properties", {}))
                for name in properties.keys() - {"ManagedPolicyArns"}:
                    if resource["Type"].startswith(RESOLVED):
                        properties[name] = scope.resolve(properties[name])
                self.resources[id_] = {"Type": resource["Type"], "Properties": properties}

    def arn(self, name: str) -> str:
        """Return the ARN of the storage stack that ends so."""
        (found,) = {one for one in self.storage if one.startswith("arn:") and one.endswith(name)}
        return found

    def queue(self, pipeline: str) -> str:
        """Return the ARN of the queue for schedules that failed."""
        start = f"{pipeline}StartScheduleMissed"
        (found,) = {
            f"{{{id_}.Arn}}"
            for id_, resource in self.resources.items()
            if id_.startswith(start) and resource["Type"] == "AWS::SQS::Queue"
        }
        return found

    def statements(self, role: str) -> list[Any]:
        """Return what a role allows, by the beginning of its logical id."""
        (found,) = [
            policies_of({"Properties": {"Policies": [], **r["Properties"]}}, self.resources)
            if r["Type"] == "AWS::IAM::Role"
            else [r["Properties"]]
            for id_, r in self.resources.items()
            if re.fullmatch(rf"{role}[0-9A-F]{{8}}", id_)
        ]
        return [
            one
            for policy in found
            for statement in policy["PolicyDocument"]["Statement"]
            for one in by_folder(statement)
        ]

    def runs(self, job: str) -> list[Request]:
        """Return what every job needs: its files, its logs, the key."""
        properties = next(
            r["Properties"]
            for r in self.resources.values()
            if r["Type"] == "AWS::Glue::Job" and r["Properties"]["Name"] == job
        )
        named = ("--extra-py-files", "--extra-files", "--extra-jars", "--additional-python-modules")
        uris = [properties["Command"]["ScriptLocation"]]
        for name in named:
            uris += properties["DefaultArguments"].get(name, "").split(",")
        files = [uri.removeprefix("s3://") for uri in uris if uri and not uri.endswith("/")]
        return [
            *each(["s3:GetObject"], *(f"arn:aws:s3:::{file}" for file in files)),
            *logs(self.groups("".join(word.capitalize() for word in job.split("-")))),
            *uses_key(self.arn("lakekey")),
        ]

    def groups(self, owner: str) -> list[str]:
        """Return the names of the log groups of a job or crawler."""
        found = [
            r["Properties"]["LogGroupName"]
            for id_, r in self.resources.items()
            if r["Type"] == "AWS::Logs::LogGroup" and owner in id_
        ]
        assert found
        return found


@pytest.fixture(scope="module")
def everything(cdk: Any, tmp_path_factory: pytest.TempPathFactory) -> App:
    out = tmp_path_factory.mktemp("out")
    declare_everything(cdk, tmp_path_factory.mktemp("project"), str(out)).synth()
    return App(out)


@pytest.fixture(scope="module")
def needs(everything: App) -> dict[str, list[Request]]:
    """Return what each role is needed for."""
    raw, mart = everything.arn("lakeraw"), everything.arn("lakemart")
    landing = everything.arn("lakelanding")
    key, theirs = everything.arn("lakekey"), "arn:aws:s3:::theirs"
    table = everything.arn("glue-watermarks")
    crawler = {
        name: [*logs(everything.groups(name)), *uses_key(key)]
        for name in ("CrawlPrices", "CrawlCustomers", "CrawlDatabase")
    }
    rows = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"]
    return {
        "KindsFetchPricesRole": [
            *everything.runs("fetch-prices"),
            *writes(raw, "prices", "customers"),
            *reads_tables("sales/prices"),
            *joins("tidemark-dev-kinds-kindsshop", subnet=SUBNET, group=GROUP),
            *uses_application("tidemark-dev-kinds-kindscustomers", f"{SECRET}shop/reader-a1B2c3"),
            *each(
                ["secretsmanager:GetSecretValue"],
                f"{SECRET}prices/token-a1B2c3",
                f"{SECRET}shop/reader-a1B2c3",
            ),
            *each(["glue:GetWorkflowRunProperties"], f"{GLUE}workflow/kinds"),
        ],
        "KindsCrawlPricesRole": [
            *crawler["CrawlPrices"],
            *reads(raw, "prices"),
            *each(["s3:GetBucketLocation"], raw),
            *crawls("sales/raw_prices"),
            *joins("office"),
        ],
        "KindsCrawlCustomersRole": [
            *crawler["CrawlCustomers"],
            *reads(raw, "customers"),
            *each(["s3:GetBucketLocation"], raw),
            *crawls("sales/customers"),
        ],
        "KindsCrawlDatabaseRole": [
            *crawler["CrawlDatabase"],
            *reads(landing, "events"),
            *each(["s3:GetBucketLocation"], landing),
            *each(
                ["dynamodb:DescribeTable", "dynamodb:Scan"],
                f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/orders",
            ),
            *crawls("sales/shop_orders", deletes=True),
            *joins("office"),
        ],
        "KindsReadClicksRole": [
            *everything.runs("read-clicks"),
            *stream(),
            *topics(),
            *writes(raw, "clicks", "checkpoints/clicks"),
            *metrics(),
            *joins("kafka"),
        ],
        "KindsStartScheduleRole": [
            *each(["glue:StartWorkflowRun"], f"{GLUE}workflow/kinds"),
            *each(["sqs:SendMessage"], everything.queue("Kinds")),
        ],
        "SparkStartScheduleRole": [
            *each(["events:PutEvents"], f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/default"),
            *each(["sqs:SendMessage"], everything.queue("Spark")),
        ],
        "SparkStartEventsRole": each(["glue:notifyEvent"], f"{GLUE}workflow/spark"),
        "SparkEtlDefaultPolicy": [
            *everything.runs("ask-lake-formation"),
            *reads(raw, "orders"),
            *each(["lakeformation:GetDataAccess"], "*"),
        ],
        "SparkMergeLinesRole": [
            *everything.runs("merge-lines"),
            *writes(mart, "lines"),
            *commits_iceberg("sales/lines"),
            *each(["glue:GetDatabase"], f"{GLUE}catalog", f"{GLUE}database/sales"),
        ],
        "SparkSumLinesRole": [
            *everything.runs("sum-lines"),
            *reads(mart, "lines"),
            *writes(mart, "totals"),
            *in_catalog(["glue:GetTable"], "sales/lines"),
            *each(
                ["glue:GetDatabase"],
                f"{GLUE}catalog",
                f"{GLUE}database/sales",
                f"{GLUE}database/tidemark_dev",
            ),
            *commits_iceberg("tidemark_dev/totals"),
            *in_catalog(["glue:CreateTable"], "tidemark_dev/totals"),
        ],
        "SparkLinesOptimizersRole": [
            *writes(mart, "lines"),
            *each(["kms:Decrypt", "kms:GenerateDataKey"], key),
            *commits_iceberg("sales/lines"),
            *logs_optimizers("compaction", "retention", "orphan-file-deletion"),
        ],
        "SparkReadManyRole": [
            *everything.runs("read-many"),
            *reads(theirs, *(f"source-{n:03}/orders" for n in range(90))),
            *uses_connections("tidemark-dev-spark-sparkoutside"),
            *each(["secretsmanager:GetSecretValue"], f"{SECRET}shop/reader-a1B2c3"),
            *each(["glue:GetJobBookmark", "glue:GetJobRun"], f"{GLUE}job/read-many"),
            *each(
                ["dynamodb:GetItem", "dynamodb:PutItem"],
                table,
                dynamodb__LeadingKeys=["read-many"],
            ),
        ],
        "SparkUseEverythingRole": [
            *everything.runs("use-everything"),
            *reads(theirs, "orders", "config"),
            *writes(raw, "orders", "tmp"),
            *writes(mart, "events", "venvs"),
            *each(["dynamodb:DescribeTable"], table),
            *each(rows, table, dynamodb__LeadingKeys=["use-everything"]),
            *metrics(),
            *hive(
                ["sales", "tidemark_dev"],
                "sales/customers",
                "sales/invoices",
                "tidemark_dev/orders",
            ),
            *reads_tables("sales/customers", "sales/invoices", "tidemark_dev/orders"),
            *reads_tables("sales/rates", of=OTHER),
            *writes_tables("sales/invoices", "tidemark_dev/orders"),
            *in_catalog(["glue:CreateTable"], "sales/invoices"),
            # https://docs.aws.amazon.com/glue/latest/dg/data-quality-authorization.html
            *each(
                ["glue:GetDataQualityRuleset", "glue:PublishDataQuality"],
                f"{GLUE}dataQualityRuleset/customers",
            ),
            *each(["lakeformation:GetDataAccess"], "*"),
            *joins("office"),
            *each(["secretsmanager:GetSecretValue"], f"{SECRET}sales/reader-a1B2c3"),
            *each(
                ["glue:GetWorkflowRunProperties", "glue:PutWorkflowRunProperties"],
                f"{GLUE}workflow/spark",
            ),
        ],
    }


def denied(statements: Sequence[Any], requests: Sequence[Request]) -> Iterator[Request]:
    for one in requests:
        if not is_allowed(statements, one.action, one.resource, one.context):
            yield one


def test_the_needs_of_every_role_are_said(everything: App, needs: dict[str, Any]) -> None:
    said = {
        id_
        for id_, resource in everything.resources.items()
        if resource["Type"] == "AWS::IAM::Role" and resource["Properties"].get("Policies")
    }

    assert {id_[:-8] for id_ in said} == needs.keys() - {"SparkEtlDefaultPolicy"}


def test_every_role_may_do_what_the_documents_say_it_needs(
    everything: App, needs: dict[str, list[Request]]
) -> None:
    found = {role: list(denied(everything.statements(role), all_)) for role, all_ in needs.items()}

    assert {role: requests for role, requests in found.items() if requests} == {}


def test_without_any_one_of_its_grants_a_role_could_not_do_what_it_is_for(
    everything: App, needs: dict[str, list[Request]]
) -> None:
    idle = [
        (role, action, resource)
        for role, requests in needs.items()
        if role != "SparkReadManyRole"  # 90 times the same; tests/.../jobs/test_policies.py
        for action, resource in idle_grants(everything.statements(role), requests)
    ]

    assert idle == []


def idle_grants(
    statements: Sequence[Any], requests: Sequence[Request]
) -> Iterator[tuple[str, str]]:
    """Yield the grants without which every request is still allowed."""
    granted = list(grants(statements))
    for number, action, resource in granted:
        kind = re.split("[:/]", resource.split(":", 5)[-1])[0]
        if kind not in TYPES.get(action, {kind}):
            continue
        own = [one for one in requests if one.action == action]
        rest = list(statements)
        for other, *grant in reversed(granted):  # what is granted twice is taken away twice
            same = statements[other].get("Condition") == statements[number].get("Condition")
            if same and grant == [action, resource]:
                rest = without(rest, (other, action, resource))
        if not any(denied(rest, own)):
            yield action, resource


def test_no_role_may_change_what_another_is_for(
    everything: App, needs: dict[str, list[Request]]
) -> None:
    shared = {"SparkEtlDefaultPolicy"}
    changing = re.compile(r"s3:(Put|Delete)|dynamodb:|glue:(Put|Create|Update|Delete|Batch[CUD])")
    wrong = []
    for role, requests in needs.items():
        own = {json.dumps([one.action, one.resource]) for one in requests}
        for other, theirs in needs.items():
            for one in theirs:
                foreign = json.dumps([one.action, one.resource]) not in own
                if foreign and changing.match(one.action) and role not in shared:
                    statements = everything.statements(role)
                    if is_allowed(statements, one.action, one.resource, one.context):
                        wrong.append((role, other, one))

    assert wrong == []
