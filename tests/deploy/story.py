"""A step of the story: a command, run as a person in the project would, and what it did."""

from __future__ import annotations

import functools
import json
import os
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.deploy.cloud import Cloud, Deployed, Stack

PROJECT = Path(__file__).parents[2]
MIN_LIMIT_SECONDS, LIMIT_FACTOR = 600.0, 200.0
STORAGE, FLIGHTS = STACKS = ("tidemark-dev-storage", "tidemark-dev-flights")
ADDED = "publish-origins"
ADD_JOB = """\
        self.pipeline.add_job(
            "publish-origins",
            script="glue_jobs/publish_delays.py",
            bookmark=BookmarkOption.ENABLE,
            after=[ingest_weather, curate_flights],
            reads=[
                curated_flights,
                *(Dataset(lake.curated, f"source-{n:02}/", delivered=True) for n in range(40)),
            ],
            writes=[Dataset(lake.mart, "origins/", published=True)],
        )
"""  # it reads more than the inline policy of a role holds


class StepError(Exception):
    """A step of the story did not do what the story needs; the steps after it cannot be taken.

    Attributes:
        line: the command.
        is_told: whether a test has failed for it; the others are skipped then (see conftest.py).
    """

    def __init__(self, line: str, said: str) -> None:
        super().__init__(f"`{line}` {said}")
        self.line = line
        self.is_told = False


@functools.cache
def limit_seconds() -> float:
    """Return the time after which a command hangs: by how long the CDK takes to say its version.

    A command of the story takes up to twenty times as long.
    """
    begin = time.monotonic()
    cdk = PROJECT / "node_modules" / ".bin" / "cdk"
    path = os.pathsep.join([str(PROJECT / ".venv" / "bin"), os.environ["PATH"]])
    subprocess.run([cdk, "--version"], env={"PATH": path}, capture_output=True, check=True)
    return max(MIN_LIMIT_SECONDS, LIMIT_FACTOR * (time.monotonic() - begin))


@dataclass(frozen=True)
class Step:
    """What a command did to the account.

    Attributes:
        status: the exit status.
        said: what the command printed.
        stacks: the stacks afterwards, by name.
        names: the names of all that is in the account, by kind.
        jobs: the jobs of the account as Glue describes them, by name.
        triggers: the triggers likewise.
        events: what happened in each stack because of the command.
    """

    status: int
    said: str
    stacks: Mapping[str, Stack]
    names: Mapping[str, set[str]]
    jobs: Mapping[str, dict[str, Any]]
    triggers: Mapping[str, dict[str, Any]]
    events: Mapping[str, list[tuple[str, str]]]

    def of_type(self, type_: str) -> dict[str, Deployed]:
        """Return the resources of a type by logical id."""
        return {
            logical_id: resource
            for stack in self.stacks.values()
            for logical_id, resource in stack.resources.items()
            if resource.type == type_
        }


@dataclass
class Terminal:
    """Runs commands as a person at a terminal in the project would, against the emulator."""

    cloud: Cloud
    home: Path
    commands: list[str] = field(default_factory=list)

    def run(self, line: str, assembly: Path, variables: Mapping[str, str] | None = None) -> Step:
        """Run a documented command on an assembly, which saves synthesizing it each time.

        It is run in the project that the assembly lies in, if it does, else in this one.
        Variables are put on top of the environment, whose credentials are those of the account.
        """
        self.commands.append(line)
        before = {stack: len(self.cloud.events(stack)) for stack in STACKS}
        program, *words = shlex.split(line)
        is_in_a_project = (assembly.parent / "cdk.json").is_file()
        if program == "make":  # the set-up is not under test
            words = ["--old-file=.venv/.complete", *words]
        done = subprocess.run(
            [program, *words],
            cwd=assembly.parent if is_in_a_project else PROJECT,
            env={**self._environment(assembly), **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=limit_seconds(),
        )
        return Step(
            status=done.returncode,
            said=done.stdout,
            stacks={stack: self.cloud.read(stack) for stack in STACKS},
            names=self.cloud.names(),
            jobs=self.cloud.jobs(),
            triggers=self.cloud.triggers(),
            events={stack: self.cloud.events(stack)[before[stack] :] for stack in STACKS},
        )

    def step(
        self,
        line: str,
        assembly: Path,
        variables: Mapping[str, str] | None = None,
        *,
        is_refused: bool = False,
    ) -> Step:
        """Run a command that later ones need; with `is_refused` it must end with a failure.

        Raises:
            StepError: it ended otherwise, or not in time.
        """
        try:
            done = self.run(line, assembly, variables)
        except subprocess.TimeoutExpired as error:
            said = (error.output or b"").decode(errors="replace")
            raise StepError(line, f"did not end within {error.timeout:.0f} s:\n{said}") from error
        if (done.status != 0) is not is_refused:
            raise StepError(line, f"ended with {done.status}:\n{done.said}")
        return done

    def aws(self, line: str) -> None:
        """Do what the AWS command line does with a documented command, which need not be here."""
        self.commands.append(line)
        _, service, operation, *words = shlex.split(line)
        options: dict[str, Any] = {}
        for word in words:
            if word.startswith("--"):
                name = "".join(part.capitalize() for part in word[2:].split("-"))
                options[name] = True
            else:
                options[name] = _value(word)
        getattr(self.cloud.client(service), operation.replace("-", "_"))(**options)

    def _environment(self, assembly: Path) -> dict[str, str]:
        """Return the environment of a command: nothing of the user's, the CDK's options apart."""
        return {
            "PATH": os.pathsep.join([str(PROJECT / ".venv" / "bin"), os.environ["PATH"]]),
            "HOME": str(self.home),
            "CDK_HOME": str(self.home / "cdk"),  # it remembers accounts by access key
            "AWS_ENDPOINT_URL": self.cloud.endpoint_url,
            "AWS_ACCESS_KEY_ID": self.cloud.account,
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": self.cloud.region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "CI": "true",
            "NO_COLOR": "1",
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CDK_DISABLE_VERSION_CHECK": "1",
            "CDK_APP": str(assembly),
            "CDK_REQUIRE_APPROVAL": "never",  # no one is there to be asked
            "CDK_FORCE": "true",
        }


def _value(word: str) -> Any:
    """Return the value of an option: a text, or an object written as `Key=value,Key=value`."""
    if "=" not in word:
        return word == "true" if word in ("true", "false") else word
    return {name: _value(value) for name, value in (part.split("=") for part in word.split(","))}


def variables_of(credentials: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for credentials as STS gives them."""
    names = {
        "AccessKeyId": "AWS_ACCESS_KEY_ID",
        "SecretAccessKey": "AWS_SECRET_ACCESS_KEY",
        "SessionToken": "AWS_SESSION_TOKEN",
    }
    return {names[key]: value for key, value in credentials.items() if key in names}


@dataclass(frozen=True)
class Data:
    """What must survive: a row in every table, an object in every bucket."""

    cloud: Cloud
    row: Mapping[str, Any]
    tables: set[str]
    buckets: set[str]

    def put(self) -> None:
        for table in self.tables:
            self.cloud.client("dynamodb").put_item(TableName=table, Item=self.row)
        for bucket in self.buckets:
            self.cloud.client("s3").put_object(Bucket=bucket, Key="kept", Body=b"kept")

    def is_there(self) -> bool:
        dynamodb, s3 = self.cloud.client("dynamodb"), self.cloud.client("s3")
        rows = [dynamodb.get_item(TableName=name, Key=self.row)["Item"] for name in self.tables]
        bodies = [s3.get_object(Bucket=name, Key="kept")["Body"].read() for name in self.buckets]
        return (rows, bodies) == ([self.row] * len(rows), [b"kept"] * len(bodies))


def synthesize(project: Path, folder: Path, context: Mapping[str, object] | None = None) -> Path:
    """Run the app of a project with the Python of the main venv; return the assembly's folder."""
    done = subprocess.run(
        [str(PROJECT / ".venv" / "bin" / "python"), "app.py"],
        cwd=project,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("CDK_")},
            "CDK_CONTEXT_JSON": json.dumps({"stage": "dev", **(context or {})}),
            "CDK_OUTDIR": str(folder),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=limit_seconds(),
    )
    if done.returncode != 0:
        raise StepError("python app.py", f"ended with {done.returncode}:\n{done.stdout}")
    return folder


def read_template(assembly: Path, stack: str) -> dict[str, Any]:
    text = (assembly / f"{stack}.template.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def wrong(step: Step, assembly: Path, stacks: Sequence[str] = STACKS) -> list[str]:
    """Return how deployed stacks differ from an assembly's templates."""
    lines = []
    for stack in stacks:
        deployed, template = step.stacks[stack], read_template(assembly, stack)
        if deployed.template != template:
            lines.append(f"{stack} has another template")
        lines += [
            f"{name} is in one of the two only"
            for name in deployed.resources.keys() ^ template["Resources"].keys()
        ]
    return lines


def changes(before: Step, after: Step) -> list[str]:
    """Return what is not as it was, of the resources, jobs and triggers that were there before."""
    pairs: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = [
        (before.jobs, after.jobs),
        (before.triggers, after.triggers),
        *((before.stacks[name].resources, after.stacks[name].resources) for name in STACKS),
    ]
    return [
        f"{name}: {was} is now {new.get(name)}"
        for old, new in pairs
        for name, was in old.items()
        if new.get(name) != was
    ]
