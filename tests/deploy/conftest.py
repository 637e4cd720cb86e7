"""An account of MiniStack, the assemblies of the app, and the steps of the story.

Why MiniStack and not moto: the CDK command line's bootstrap, change sets, no-op, update, rollback
and destroy run on it as they are; it refuses unknown resource types, reports events for each
resource, tells replacements from updates and evaluates IAM policies. moto 5.2 skips unknown types
without a word, loses outputs of change sets, fails updates, and brings tables back after a destroy.

Each step is a fixture that follows the one before, so that any test can be run alone.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.deploy.cloud import Cloud
from tests.deploy.story import ADD_JOB, ADDED, PROJECT, Data, Step, StepError, Terminal, synthesize
from tests.servers import MINISTACK, served
from tidemark.checks.state.manifest import MANIFEST

PROJECT_PARTS = ("app.py", "cdk.json", "infra", "glue_jobs", "libs", "Makefile")
INSTALLED = (".venv", "node_modules")
ACCOUNT = "210987654321"
REGION = "eu-west-2"
TABLE = "glue-watermarks"
THEIR_ROW = {"jobName": {"S": "theirs"}, "runId": {"S": "jr_1"}, "watermarks": {"M": {}}}
ADOPTING = (
    f"aws dynamodb update-table --table-name {TABLE} --billing-mode PAY_PER_REQUEST "
    "--deletion-protection-enabled",
    f"aws dynamodb update-time-to-live --table-name {TABLE} --time-to-live-specification "
    "Enabled=true,AttributeName=expiresAt",
    f"aws dynamodb update-continuous-backups --table-name {TABLE} "
    "--point-in-time-recovery-specification PointInTimeRecoveryEnabled=true",
)
GITHUB = "token.actions.githubusercontent.com"

# These tests run in the venv of `make test-deploy`; `make test` leaves them out.
collect_ignore_glob = [] if importlib.util.find_spec("ministack") else ["test_*.py"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let one test fail for a step that failed, and skip the others that need the step."""
    report = yield
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, StepError):
        if error.is_told:
            report.outcome = "skipped"
            file, line, _ = item.location
            report.longrepr = (file, line or 0, f"Skipped: `{error.line}` failed before")
        error.is_told = True
    return report


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    def emulator_at(port: int) -> tuple[list[str], dict[str, str]]:
        account = {"MINISTACK_ACCOUNT_ID": ACCOUNT, "MINISTACK_REGION": REGION, "AUTH": "true"}
        settings = {**MINISTACK, **account, "GATEWAY_PORT": str(port), "PYTHONPATH": str(PROJECT)}
        return [sys.executable, "-m", "tests.deploy.emulator"], settings

    with served(emulator_at, tmp_path_factory.mktemp("emulator")) as port:
        yield Cloud(f"http://127.0.0.1:{port}", ACCOUNT, REGION)


@pytest.fixture(scope="session")
def terminal(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    return Terminal(cloud, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the assembly of the app as it is."""
    return synthesize(PROJECT, tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="session")
def grown_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project with a job more."""
    project = tmp_path_factory.mktemp("grown") / "project"
    project.mkdir()
    for name in PROJECT_PARTS:
        source = PROJECT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, project / name)
    for name in INSTALLED:
        (project / name).symlink_to(PROJECT / name)
    stack = project / "infra" / "flights_stack.py"
    before, mark, after = stack.read_text(encoding="utf-8").partition("        cdk.CfnOutput(")
    stack.write_text(f"{before}{ADD_JOB}{mark}{after}", encoding="utf-8")
    return project


@pytest.fixture(scope="session")
def with_a_job_more(grown_project: Path) -> Path:
    """Return its assembly; `make state` was run."""
    assembly = synthesize(grown_project, grown_project / "cdk.more")
    shutil.copy(PROJECT / MANIFEST, grown_project)
    command = [PROJECT / ".venv" / "bin" / "tidemark", "state", "write", "--app", assembly]
    subprocess.run(command, cwd=grown_project, check=True)
    return assembly


@pytest.fixture(scope="session")
def with_other_settings(grown_project: Path) -> Path:
    """Return the assembly of the grown project with all that a stage can ask for."""
    stages = json.loads((grown_project / "cdk.json").read_text())["context"]["tidemark:stages"]
    stages["dev"] |= {
        "schedule": "cron(0 6 * * ? *)",
        "timeZone": "Europe/Berlin",
        "numberOfWorkers": 5,
        "autoScaling": True,
        "flex": False,
        "maxRetries": 1,
        "metrics": True,
        "alertEmail": "somebody@example.com",
        "freshnessHours": 26,
        "dpuHoursPerDay": 40,
        "monthlyBudgetUsd": 50,
        "logRetentionDays": 30,
        "tags": {"team": "flights"},
    }
    return synthesize(grown_project, grown_project / "cdk.other", {"tidemark:stages": stages})


@pytest.fixture(scope="session")
def bootstrapped(terminal: Terminal, base: Path) -> Step:
    return terminal.step("make bootstrap STAGE=dev", base)


@pytest.fixture(scope="session")
def deployed(bootstrapped: Step, terminal: Terminal, base: Path) -> Step:
    return terminal.step("make deploy STAGE=dev", base)


@pytest.fixture(scope="session")
def deployed_again(deployed: Step, terminal: Terminal, base: Path) -> Step:
    return terminal.step("make deploy STAGE=dev", base)


@pytest.fixture(scope="session")
def same(deployed_again: Step, terminal: Terminal, base: Path) -> Step:
    return terminal.step("make diff STAGE=dev", base)


@pytest.fixture(scope="session")
def different(same: Step, terminal: Terminal, with_a_job_more: Path) -> Step:
    return terminal.step("make diff STAGE=dev", with_a_job_more)


@pytest.fixture(scope="session")
def unanswered(different: Step, terminal: Terminal, with_a_job_more: Path) -> Step:
    """Deploy new permissions where no one can be asked, and nothing says not to ask."""
    asking = {"CDK_REQUIRE_APPROVAL": "broadening"}
    return terminal.step("make deploy STAGE=dev", with_a_job_more, asking, is_refused=True)


@pytest.fixture(scope="session")
def failed(unanswered: Step, cloud: Cloud, terminal: Terminal, with_a_job_more: Path) -> Step:
    """Deploy a job whose name is taken."""
    glue = cloud.client("glue")
    glue.create_job(Name=ADDED, Role="somebody-elses", Command={"Name": "glueetl"})
    try:
        return terminal.step("make deploy STAGE=dev", with_a_job_more, is_refused=True)
    finally:
        glue.delete_job(JobName=ADDED)


@pytest.fixture(scope="session")
def grown(failed: Step, terminal: Terminal, with_a_job_more: Path) -> Step:
    return terminal.step("make deploy STAGE=dev", with_a_job_more)


@pytest.fixture(scope="session")
def read_by_the_added(grown: Step, cloud: Cloud) -> list[str]:
    """Return the folders of which the added job may read an object; its role has two policies."""
    role = grown.jobs[ADDED]["Role"]
    bucket = next(
        it.id for name, it in grown.of_type("AWS::S3::Bucket").items() if name.startswith("Curated")
    )
    run = cloud.client("sts").assume_role(RoleArn=role, RoleSessionName="run")["Credentials"]
    s3, may_read = cloud.as_somebody(run)("s3"), []
    for folder in ("source-00", "source-20", "source-39", "source-40", "elsewhere"):
        key = f"{folder}/a.parquet"
        cloud.client("s3").put_object(Bucket=bucket, Key=key, Body=b"rows")
        try:
            s3.get_object(Bucket=bucket, Key=key)
            may_read.append(folder)
        except s3.exceptions.ClientError as error:
            if error.response["Error"]["Code"] != "AccessDenied":
                raise
        cloud.client("s3").delete_object(Bucket=bucket, Key=key)
    return may_read


@pytest.fixture(scope="session")
def scheduled(
    read_by_the_added: list[str], grown: Step, terminal: Terminal, with_other_settings: Path
) -> Step:
    return terminal.step("make deploy STAGE=dev", with_other_settings)


@pytest.fixture(scope="session")
def tried(scheduled: Step, cloud: Cloud) -> dict[str, str]:
    """Try what the role of the schedule may do and what it may not; return the answers.

    Only EventBridge Scheduler may assume it, so another role gets its policy.
    """
    (queue,) = scheduled.names["queues"]
    iam, sts, scheduler = (cloud.client(name) for name in ("iam", "sts", "scheduler"))
    (listed,) = scheduler.list_schedules()["Schedules"]
    target = scheduler.get_schedule(GroupName=listed["GroupName"], Name=listed["Name"])["Target"]
    probe = {"RoleName": "probe"}
    own = target["RoleArn"]
    answers = {"assume": answer_to(lambda: sts.assume_role(RoleArn=own, RoleSessionName="tick"))}
    principal = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
    trust = {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    arn = iam.create_role(**probe, AssumeRolePolicyDocument=document)["Role"]["Arn"]
    named = {"RoleName": own.rpartition("/")[2]}
    (policy,) = iam.list_role_policies(**named)["PolicyNames"]
    document = json.dumps(iam.get_role_policy(**named, PolicyName=policy)["PolicyDocument"])
    iam.put_role_policy(**probe, PolicyName="start", PolicyDocument=document)
    keys = sts.assume_role(RoleArn=arn, RoleSessionName="tick")["Credentials"]
    clients = cloud.as_somebody(keys)
    calls: dict[str, Callable[[], object]] = {
        "start flights": lambda: clients("glue").start_workflow_run(**json.loads(target["Input"])),
        "start another": lambda: clients("glue").start_workflow_run(Name="another"),
        "start a job": lambda: clients("glue").start_job_run(JobName="ingest-flights"),
        "send to the queue": lambda: clients("sqs").send_message(QueueUrl=queue, MessageBody="{}"),
        "read the queue": lambda: clients("sqs").receive_message(QueueUrl=queue),
    }
    answers |= {name: answer_to(call) for name, call in calls.items()}
    iam.delete_role_policy(**probe, PolicyName="start")
    iam.delete_role(**probe)
    return answers


def answer_to(call: Callable[[], object]) -> str:
    try:
        call()
    except ClientError as error:
        return str(error.response["Error"]["Code"]).removesuffix("Exception")
    return "done"


@pytest.fixture(scope="session")
def back(scheduled: Step, tried: dict[str, str], terminal: Terminal, base: Path) -> Step:
    return terminal.step("make deploy STAGE=dev", base)


@pytest.fixture(scope="session")
def data(back: Step, cloud: Cloud) -> Data:
    """Put a row into every table and an object into every bucket."""
    row = {"jobName": {"S": "somebody-elses"}, "runId": {"S": "kept"}}
    kept = Data(cloud, row, back.names["tables"], back.names["buckets"])
    kept.put()
    return kept


@pytest.fixture(scope="session")
def destroyed(data: Data, back: Step, terminal: Terminal, base: Path) -> Step:
    return terminal.step("make destroy STAGE=dev", base)


@pytest.fixture(scope="session")
def restored(destroyed: Step, terminal: Terminal, base: Path) -> Step:
    return terminal.step("make deploy STAGE=dev", base)


@pytest.fixture(scope="session")
def from_github(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the assembly of the app with roles for GitHub Actions."""
    stages = json.loads((PROJECT / "cdk.json").read_text())["context"]["tidemark:stages"]
    stages["dev"] |= {"githubRepository": "acme/pipelines"}
    return synthesize(PROJECT, tmp_path_factory.mktemp("github"), {"tidemark:stages": stages})


@pytest.fixture(scope="session")
def trusted(restored: Step, cloud: Cloud, terminal: Terminal, from_github: Path) -> Step:
    """Deploy the roles for GitHub Actions, once the account knows GitHub."""
    cloud.client("iam").create_open_id_connect_provider(
        Url=f"https://{GITHUB}", ClientIDList=["sts.amazonaws.com"]
    )
    return terminal.step("make deploy STAGE=dev", from_github)


@pytest.fixture(scope="session")
def gone(trusted: Step, terminal: Terminal, from_github: Path) -> Step:
    return terminal.step("npx cdk destroy --all -c stage=dev", from_github)


@pytest.fixture(scope="session")
def deployed_over_what_was_kept(gone: Step, terminal: Terminal, base: Path) -> Step:
    return terminal.step("make deploy STAGE=dev", base, is_refused=True)


@pytest.fixture(scope="session")
def adopted(
    deployed_over_what_was_kept: Step, cloud: Cloud, terminal: Terminal, base: Path
) -> Step:
    """Deploy where a table of somebody else has the name, as its class makes it."""
    terminal.aws("aws glue delete-database --name tidemark_dev")
    dynamodb, table = cloud.client("dynamodb"), {"TableName": TABLE}
    dynamodb.update_table(**table, DeletionProtectionEnabled=False)
    dynamodb.delete_table(**table)
    keys = (("jobName", "HASH"), ("runId", "RANGE"))
    dynamodb.create_table(
        **table,
        KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name, _ in keys],
        ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
    )
    dynamodb.put_item(**table, Item=THEIR_ROW)
    for line in ADOPTING:
        terminal.aws(line)
    return terminal.step("npx cdk deploy --all -c stage=dev --import-existing-resources", base)
