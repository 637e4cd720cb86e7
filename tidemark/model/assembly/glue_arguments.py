"""Every argument that Glue itself reads: how to set it, for which jobs, and its effect here.

The documented list, and what Glue passes or reads beyond it. The constructs, adopt, the local Glue,
the linter and docs/glue-arguments.md decide by this table: a new argument is a line of
`glue_arguments.json`, and a field of `GlueArguments` if it is to be declared.
Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html,
https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-security-for-auto-upgrade.html
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from tidemark.model.assembly.glue_versions import version_of_run

SPARK = ("glueetl", "gluestreaming")
PYTHON = (*SPARK, "pythonshell")
DATALAKE_FORMATS = ("hudi", "delta", "iceberg")
LOG_STREAM = re.compile(r"[^:*\s]{1,400}")
UNDOCUMENTED = re.compile(r"--[A-Za-z][\w-]*", re.ASCII)


class Here(Enum):
    """How the local Glue treats an argument."""

    HONOURED = "honoured"
    PASSED_ON = "tunes, logs or measures only"
    REFUSED = "refused"


class Form(Enum):
    """How the value of a field of `GlueArguments` is written."""

    ON = "true, where the default is off"
    ON_OR_OFF = "true or false, where the default is on"
    TEXT = "as it is"
    LIST = "values with commas between them"
    FILES = "addresses of files with commas between them"
    FILE = "the address of a file"
    FOLDER = "the address of a folder that the job writes"
    SETTINGS = "name=value --conf name=value"
    VARIABLES = "name=value,name=value"


class Passed(Enum):
    """Who passes an argument that scripts may read, and what getResolvedOptions does with it."""

    BY_DECLARATION = "the job"
    BY_GLUE = "Glue, to every run"
    BY_WORKFLOW = "Glue, to the runs of a workflow"
    BY_GLUE_ALONE = "Glue, to every run: getResolvedOptions returns it, and refuses to be asked"
    ALONE = "the job: getResolvedOptions returns it, and refuses to be asked"
    OPTIONAL = "the job: getResolvedOptions returns it, and None where it is missing"


@dataclass(frozen=True)
class GlueArgument:
    """An argument that Glue reads.

    Attributes:
        name: with its dashes.
        field: of `GlueArguments` that sets it; empty if something else does.
        form: how the value of that field is written.
        ends: what the names of its files end in.
        instead: if no field sets it: what does, or why nothing does.
        here: how the local Glue treats it.
        remedy: the alternative if it is refused here.
        commands: kinds of jobs that know it, by the name of their command.
        since: the first version of Glue that knows it; empty: every one.
        until: the last version of Glue that knows it; empty: every one.
        passed: who passes it.
    """

    name: str
    field: str = ""
    form: Form = Form.TEXT
    ends: tuple[str, ...] = ("",)
    instead: str = ""
    here: Here = Here.PASSED_ON
    remedy: str = ""
    commands: tuple[str, ...] = SPARK
    since: str = ""
    until: str = ""
    passed: Passed = Passed.BY_DECLARATION

    def is_known_by(self, version: str) -> bool:
        """Return whether a version of Glue, such as `5.1`, knows the argument."""
        return (not self.since or _order(self.since) <= _order(version)) and (
            not self.until or _order(version) <= _order(self.until)
        )


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version_of_run(version).split(".")))


# The committer for Parquet is of EMRFS, which Glue 6.0 no longer has. The last ones are what Glue
# passes to every script, or its library parses.
_TEXT = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
_ENUMS = {"form": Form, "here": Here, "passed": Passed}


def _argument(facts: Mapping[str, Any]) -> GlueArgument:
    lists = {name: tuple(value) for name, value in facts.items() if isinstance(value, list)}
    members = {name: kind[facts[name]] for name, kind in _ENUMS.items() if name in facts}
    return GlueArgument(**{**facts, **lists, **members})


GLUE_ARGUMENTS = {facts["name"]: _argument(facts) for facts in json.loads(_TEXT)}


def names_passed(*by: Passed) -> set[str]:
    """Return the names, without dashes, of arguments that are passed in some ways."""
    return {name.removeprefix("--") for name, known in GLUE_ARGUMENTS.items() if known.passed in by}
