"""Synthesis once per session and per context; the tests read what it wrote as plain JSON."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.assemblies import app_run, shared_assembly

ROOT = Path(__file__).resolve().parents[2]
Synth = Callable[..., "Assembly"]
DATABASE = {  # a flightsSource with everything that one may have
    "kind": "jdbc",
    "url": "jdbc:postgresql://db/air",
    "table": "flights",
    "driver": "org.postgresql.Driver",
    "connectionName": "air-network",
    "secretName": "air/reader",
}


@dataclass(frozen=True)
class Assembly:
    """What one run of the app wrote.

    Attributes:
        folder: where.
        kinds: how the names of the stacks end that are looked at; all if empty.
    """

    folder: Path
    kinds: tuple[str, ...] = ()

    def sample(self) -> "Assembly":
        """Return the stacks of the sample alone, whatever pipelines the app has got since."""
        return Assembly(self.folder, ("-storage", "-flights", "-github"))

    def stacks(self) -> list[str]:
        names = [
            path.name.removesuffix(".template.json") for path in self.folder.glob("*.template.json")
        ]
        return sorted(name for name in names if not self.kinds or name.endswith(self.kinds))

    def text(self, stack: str) -> str:
        return (self.folder / f"{stack}.template.json").read_text()

    def assets(self, stack: str) -> dict[str, dict]:
        return json.loads((self.folder / f"{stack}.assets.json").read_text())["files"]

    def resources(self, type_: str | None = None) -> dict[str, dict]:
        """Return the resources of all stacks, those of one type if asked, by logical id."""
        return {
            f"{stack}/{logical_id}": resource
            for stack in self.stacks()
            for logical_id, resource in json.loads(self.text(stack))["Resources"].items()
            if type_ in (None, resource["Type"])
        }

    def jobs(self) -> dict[str, dict]:
        """Return the properties of the Glue jobs by job name."""
        return {
            job["Properties"]["Name"]: job["Properties"]
            for job in self.resources("AWS::Glue::Job").values()
        }

    def statements(self, job: str) -> list[dict]:
        """Return the policy statements of a job's role, each resource as one line of text."""
        role = self.jobs()[job]["Role"]["Fn::GetAtt"][0]
        (resource,) = (r for id_, r in self.resources().items() if id_.endswith(f"/{role}"))
        assert "ManagedPolicyArns" not in resource["Properties"]
        return [
            {
                **statement,
                "Action": as_list(statement["Action"]),
                "Resource": [as_text(arn) for arn in as_list(statement["Resource"])],
            }
            for policy in resource["Properties"]["Policies"]
            for statement in policy["PolicyDocument"]["Statement"]
        ]


def as_list(value: object) -> list:
    return value if isinstance(value, list) else [value]


def as_text(value: object) -> str:
    """Return an intrinsic as one line; what a deployment fills in stands in braces."""
    match value:
        case str():
            return value
        case {"Fn::Join": [separator, parts]}:
            return separator.join(as_text(part) for part in parts)
        case {"Fn::Sub": text}:
            return text
        case {"Ref": name}:
            return f"{{{name}}}"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"{{{name}.{attribute}}}"
        case {"Fn::ImportValue": export}:
            found = re.fullmatch(
                r".*:ExportsOutput(?:Ref|FnGetAtt)([A-Za-z]+?)(?:Table)?[0-9A-F]{8}.*", export
            )
            return f"{{{found[1] if found else export}}}"
    raise AssertionError(f"an intrinsic the tests do not know: {value}")


@pytest.fixture(scope="session")
def run_app(tmp_path_factory: pytest.TempPathFactory) -> Synth:
    """Return a function that runs `python app.py` from another folder, into a new folder."""
    return lambda **context: Assembly(app_run(tmp_path_factory.mktemp("cdk.out"), context))


@pytest.fixture(scope="session")
def synth(tmp_path_factory: pytest.TempPathFactory) -> Synth:
    """Return a function that synthesizes a context, each context once."""
    return lambda **context: Assembly(shared_assembly(tmp_path_factory, context))


@pytest.fixture(scope="session", name="as_text")
def _as_text() -> Callable[[object], str]:
    return as_text


@pytest.fixture(scope="session", params=["dev", "prod"])
def stage(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def assembly(synth: Synth, stage: str) -> Assembly:
    """Return the assembly of each stage in turn."""
    return synth(stage=stage)


@pytest.fixture(scope="session")
def sample(assembly: Assembly) -> Assembly:
    """Return the stacks of the sample in each stage in turn."""
    return assembly.sample()
