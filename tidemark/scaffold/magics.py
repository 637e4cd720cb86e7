"""What the magics of AWS's kernel are for a job: arguments and settings of its construct.

Source: https://docs.aws.amazon.com/glue/latest/dg/interactive-sessions-magics.html
"""

import ast
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.errors import JobDefinitionError, UsageError
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS, Form
from tidemark.model.stage.runtime import JobRuntime

RUNTIME = {
    "glue_version": "glue_version",
    "worker_type": "worker_type",
    "number_of_workers": "number_of_workers",
    "timeout": "timeout_minutes",
}
ARGUMENTS = {
    "extra_py_files": "--extra-py-files",
    "extra_jars": "--extra-jars",
    "additional_python_modules": "--additional-python-modules",
    "spark_conf": "--conf",
}
CONNECTIONS, TAGS, CONFIGURE = "connections", "tags", "configure"
ABOUT_SESSIONS = (
    *("session_id_prefix", "session_id", "reconnect", "stop_session"),
    *("status", "list_sessions", "help"),
)
NO_PICTURE = "a job shows no pictures; write what they show to S3"
NO_MEANING = {
    "idle_timeout": "a job ends with its script",
    **dict.fromkeys(ABOUT_SESSIONS, "it is about the session"),
    **dict.fromkeys(
        ("profile", "region", "endpoint", "assume_role"),
        "the deployment has credentials and a region of its own",
    ),
    "iam_role": "the job gets a role of its own; role= of add_job names another one",
    "max_capacity": "a job has workers: runtime=JobRuntime(number_of_workers=…)",
    "security_config": "the pipeline has security= for all its jobs",
    "etl": "add_job makes jobs of this type",
    "matplot": NO_PICTURE,
    "plotly": NO_PICTURE,
}
OTHER_TYPES = {
    "streaming": "write a streaming job with pipeline.add_streaming_job: docs/job-kinds.md",
    "glue_ray": "AWS ends Ray, and nothing here runs it: write it for Spark",
}
SESSION_TYPE = "session_type"
CELL_MAGICS = (CONFIGURE, TAGS, "assume_role")
LINE_MAGICS = (
    *RUNTIME,
    *ARGUMENTS,
    CONNECTIONS,
    *(name for name in NO_MEANING if name != "assume_role"),
    *OTHER_TYPES,
    SESSION_TYPE,
)
PICTURES = ("%matplot", "%plotly")
CATALOG = "--enable-glue-datacatalog"  # AWS's kernel gives it to each session
MODULES = "--additional-python-modules"
NOT_OF_TESTS = (MODULES, "--extra-py-files", "--extra-jars", "--extra-files", "--TempDir")
SCRIPT_NAME = re.compile(r"--([A-Za-z]\w*)", re.ASCII)


@dataclass(frozen=True)
class Magic:
    """A magic of a cell: its name without `%`, its value, and where it stands, from 1 on."""

    name: str
    value: str
    cell: int
    line: int

    def __str__(self) -> str:
        """Return where it stands, and its name as the notebook writes it."""
        sign = "%%" if self.name in CELL_MAGICS else "%"
        return f"cell {self.cell}, line {self.line}: {sign}{self.name}"


@dataclass
class JobSettings:
    """The settings of a job, as `add_job` takes them.

    Attributes:
        runtime: fields of `JobRuntime`.
        arguments: Glue's and the script's, with dashes.
        connections: names of connections of Glue.
        tags: tags of the job.
        told: what has no meaning for a job, each with the reason.
    """

    runtime: dict[str, Any] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=lambda: {CATALOG: "true"})
    connections: list[str] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def keywords(self) -> dict[str, str]:
        """Return the keywords of `add_job` with their values as Python."""
        glue: dict[str, Any] = {}
        own: dict[str, str] = {}
        for name, text in self.arguments.items():
            known = GLUE_ARGUMENTS.get(name)
            if known and known.field and known.form is not Form.FOLDER:
                glue[known.field] = _value(name, known.form, text)
            elif known is None and (script := SCRIPT_NAME.fullmatch(name)):
                own[script[1]] = text
            elif known is None:
                glue.setdefault("other", {})[name] = text
        modules = _listed(self.arguments.get(MODULES, ""))
        calls = {
            "python_modules": repr(modules) if modules else "",
            CONNECTIONS: repr(self.connections) if self.connections else "",
            "arguments": repr(own) if own else "",
            "runtime": _call("JobRuntime", self.runtime),
            "glue_arguments": _call("GlueArguments", glue),
            "options": _call("JobOptions", {TAGS: self.tags} if self.tags else {}),
        }
        return {keyword: text for keyword, text in calls.items() if text}

    def left_out(self) -> list[str]:
        """Return what the notebook says and a job does not take, each with the reason."""
        unsaid = (GLUE_ARGUMENTS.get(name) for name in self.arguments if name != MODULES)
        return self.told + [
            f"{known.name} is left out: {known.instead or 'give a Dataset in glue_arguments='}"
            for known in unsaid
            if known and (not known.field or known.form is Form.FOLDER)
        ]


def settings_of(magics: Iterable[Magic]) -> JobSettings:
    """Return the settings that magics make; of two values the later one counts.

    Raises:
        UsageError: a magic is for another kind of job, or its value is not what Glue takes.
    """
    settings = JobSettings()
    for magic in magics:
        if magic.name in (CONFIGURE, TAGS):
            members = _document(magic)
            members = {TAGS: members} if magic.name == TAGS else members
            for name, value in members.items():
                _set(settings, magic, name, value)
        else:
            _set(settings, magic, magic.name, magic.value.strip("\"'"))
    return settings


def _set(settings: JobSettings, magic: Magic, name: str, value: Any) -> None:
    if name == SESSION_TYPE:
        name = str(value).lower().removeprefix("glue").strip()
    if name in RUNTIME:
        settings.runtime[RUNTIME[name]] = _of_runtime(magic, RUNTIME[name], value)
    elif name in ARGUMENTS:
        text = str(value) if name == "spark_conf" else ",".join(_listed(value))
        settings.arguments[ARGUMENTS[name]] = text
    elif name == CONNECTIONS:
        settings.connections = _listed(value)
    elif name == TAGS and isinstance(value, Mapping):
        settings.tags |= {str(key): str(text) for key, text in value.items()}
    elif name in NO_MEANING:
        settings.told.append(f"{magic}{_inside(magic, name)} is left out: {NO_MEANING[name]}")
    elif magic.name == CONFIGURE and name not in (TAGS, *OTHER_TYPES):
        settings.arguments[name if name.startswith("--") else f"--{name}"] = str(value)
    else:
        why = OTHER_TYPES.get(name, "allowed: tags as an object, and the session_type etl")
        raise UsageError(f"{magic}{_inside(magic, name)} is not for a job of add_job; {why}")


def _inside(magic: Magic, name: str) -> str:
    return f" {name}" if name != magic.name else ""


def _of_runtime(magic: Magic, name: str, value: Any) -> Any:
    try:
        typed: Any = str(value) if name in ("glue_version", "worker_type") else int(value)
        JobRuntime(**{name: typed})
    except (ValueError, TypeError, JobDefinitionError) as error:
        raise UsageError(f"{magic} {value!r} is not possible: {error}") from error
    return typed


def _document(magic: Magic) -> dict[str, Any]:
    for read in (ast.literal_eval, json.loads):  # the kernel takes the first; JSON has `true`
        try:
            document = read(magic.value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(document, dict) and all(isinstance(name, str) for name in document):
            return document
    raise UsageError(f"{magic} needs an object of JSON, such as {{'--name': 'value'}}")


def _listed(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else str(value).strip("[]").split(",")
    return [text for part in parts if (text := str(part).strip().strip("\"'"))]


def _value(name: str, form: Form, text: str) -> Any:
    match form:
        case Form.ON | Form.ON_OR_OFF:
            return text.lower() == "true"
        case Form.LIST | Form.FILES:
            return _listed(text)
        case Form.SETTINGS:
            return _pairs(name, text, re.split(r"\s*--conf\s+", text))
        case Form.VARIABLES:
            return _pairs(name, text, text.split(","))
    return int(text) if text.isdecimal() and name == "--executor-cores" else text


def _pairs(name: str, text: str, parts: list[str]) -> dict[str, str]:
    pairs = {
        key.strip(): value for part in parts if part for key, _, value in [part.partition("=")]
    }
    if not pairs or not all(key and value for key, value in pairs.items()):
        raise UsageError(
            f"{name} of the notebook is {text!r}; allowed: name=value --conf name=value"
        )
    return {key: value.strip() for key, value in pairs.items()}


def _call(kind: str, fields: Mapping[str, Any]) -> str:
    texts = [f"{name}={value!r}" for name, value in fields.items()]
    return f"{kind}({', '.join(texts)})" if texts else ""
