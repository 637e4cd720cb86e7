"""Translates Glue's own arguments of a job into fields of `GlueArguments`: pure, on plain data.

Values that the constructs would write in another form are listed, never changed silently.
"""

import re
from typing import TypeAlias

from tidemark.adopt.model import Reason, Runtime
from tidemark.adopt.places import place_of
from tidemark.adopt.reading import Reading
from tidemark.model.assembly.glue_arguments import (
    DATALAKE_FORMATS,
    GLUE_ARGUMENTS,
    LOG_STREAM,
    UNDOCUMENTED,
    Form,
    GlueArgument,
)
from tidemark.model.assembly.glue_versions import AUTO
from tidemark.model.plain_secrets import shows_secret
from tidemark.model.stage.runtime import JobRuntime, ShellRuntime, StreamingRuntime

SparkRuntime: TypeAlias = JobRuntime | StreamingRuntime
DEFAULTS = "DefaultArguments"
# As the constructs check them, which start Node when they are imported.
OBJECT = re.compile(r"s3://[\w.-]+/[\w.+=!@/-]*[\w.+=!@-]", re.ASCII)
SETTING = re.compile(r"([A-Za-z][\w.-]*)=([^\s'\"]+)", re.ASCII)
VARIABLE = re.compile(r"(CUSTOMER_\w+)=([^\r\n'\"\\, ]*)", re.ASCII)
KEY_ARN = re.compile(r"arn:[\w-]+:kms:[\w-]+:\d{12}:key/[\w-]+", re.ASCII)
ONE_LINE = re.compile(r"[^\r\n]+")
FORM = ("GlueArguments writes it in another form", "set it in glue_arguments=")
UNKNOWN_TO_VERSION = ("the version of Glue does not know it", "nothing")
UNKNOWN_TO_KIND = ("Glue does not read it of a job of this kind", "nothing")
ALWAYS_ON = ("GlueArguments sets it as true", "nothing: Glue takes any value")
LAKE_FORMATION = "--enable-lakeformation-fine-grained-access"
MIN_WORKERS = 4  # of a job whose tables Lake Formation filters


def glue_arguments_of(job: Reading, runtime: Runtime, command: str) -> dict[str, object]:
    """Return the fields of `GlueArguments`, and account for the arguments that they set."""
    fields: dict[str, object] = {}
    for name in job.left_in(DEFAULTS):
        known = GLUE_ARGUMENTS.get(name)
        # Two arguments make spark_ui, and only both together: they are read at the end.
        if known is None or not known.field or known.field == "spark_ui":
            continue
        if command not in known.commands:
            job.differ_for(UNKNOWN_TO_KIND, DEFAULTS, name)
            continue
        value, reason = _field(job, known, runtime)
        fields |= {known.field: value} if value is not None else {}
        if reason:
            job.differ_for(reason, DEFAULTS, name)
        else:
            job.take(DEFAULTS, name)
    if not isinstance(runtime, ShellRuntime):
        _spark_ui(job, fields)
    return fields


def other_arguments_of(job: Reading) -> dict[str, str]:
    """Return arguments that neither Glue nor `arguments=` knows: names with dashes inside."""
    others = {}
    for name in job.left_in(DEFAULTS):
        text = str(job.get(DEFAULTS, name))
        is_other = UNDOCUMENTED.fullmatch(name) and "-" in name[2:] and name not in GLUE_ARGUMENTS
        if is_other and ONE_LINE.fullmatch(text) and not shows_secret(name.lstrip("-"), text):
            others[name] = str(job.take(DEFAULTS, name))
    return others


def _field(
    job: Reading, known: GlueArgument, runtime: Runtime
) -> tuple[object | None, Reason | None]:
    """Return the value of a field, None without one; and why the argument has to be listed."""
    text = str(job.get(DEFAULTS, known.name))
    if isinstance(runtime, ShellRuntime):
        value = _objects(text, known.ends) if known.name == "--extra-py-files" else None
        return value, None if value else FORM
    if not known.is_known_by(runtime.glue_version):
        return None, UNKNOWN_TO_VERSION
    if known.form is Form.ON and text != "false":
        if reason := _switch_refusal(job, known.name, runtime):
            return None, reason
        return True, None if text == "true" else ALWAYS_ON
    of_spark = None if shows_secret("", text) else _value(known, text, runtime)
    return of_spark, FORM if of_spark is None else None


def _switch_refusal(job: Reading, name: str, runtime: SparkRuntime) -> Reason | None:
    """Return why GlueArguments does not take a switch, and what to do; None if it does."""
    jars = job.get(DEFAULTS, "--extra-jars")
    if name == LAKE_FORMATION and (runtime.number_of_workers < MIN_WORKERS or jars):
        why = f"it takes {MIN_WORKERS} workers at least, and no extra jars"
        return why, "change one of them, then set it in glue_arguments="
    if name == "--user-jars-first" and not _objects(str(jars), GLUE_ARGUMENTS["--extra-jars"].ends):
        return "there are no extra jars to be first", "see --extra-jars"
    return None


def _value(known: GlueArgument, text: str, runtime: SparkRuntime) -> object | None:
    """Return the value of a field that the constructs write as this string; None without one."""
    match known.form:
        case Form.ON_OR_OFF:
            return {"true": True, "false": False}.get(text)
        case Form.SETTINGS:
            return _pairs(text.split(" --conf "), SETTING)
        case Form.VARIABLES:
            return _pairs(text.split(","), VARIABLE)
        case Form.FILES:
            return _objects(text, known.ends)
        case Form.LIST:
            names = tuple(text.split(","))
            is_list = set(names) <= set(DATALAKE_FORMATS) and len(set(names)) == len(names)
            return names if is_list else None
    return _single(known.field, text, runtime)


def _single(field: str, text: str, runtime: SparkRuntime) -> object | None:
    """Return the value of a field that is one word, where it has the form of the constructs."""
    if field == "executor_cores":
        most = int(2 * 4 * runtime.dpus_of_worker)
        return int(text) if text.isdecimal() and 1 <= int(text) <= most else None
    if field == "auto_upgrade_metadata_kms_key":
        return text if runtime.glue_version == AUTO and KEY_ARN.fullmatch(text) else None
    return text if field == "log_stream_prefix" and LOG_STREAM.fullmatch(text) else None


def _pairs(parts: list[str], form: re.Pattern[str]) -> dict[str, str] | None:
    matches = [form.fullmatch(part) for part in parts]
    pairs = {match[1]: match[2] for match in matches if match}
    if len(pairs) < len(parts) or any(shows_secret(*pair) for pair in pairs.items()):
        return None
    return pairs


def _objects(text: str, ends: tuple[str, ...]) -> tuple[str, ...] | None:
    uris = tuple(text.split(","))
    is_list = all(OBJECT.fullmatch(uri) and uri.endswith(ends) for uri in uris)
    return uris if is_list and len(set(uris)) == len(uris) else None


def _spark_ui(job: Reading, fields: dict[str, object]) -> None:
    switch, path = (DEFAULTS, "--enable-spark-ui"), (DEFAULTS, "--spark-event-logs-path")
    text = str(job.get(*path) or "")
    place = place_of(text)
    if place and place.uri == text and job.takes(*switch, values=["true"]):
        fields["spark_ui"] = place
        job.take(*path)
        return
    why = "the UI is switched on by naming the folder of its logs"
    for path_of in (switch, path):
        if job.get(*path_of) is not None:
            job.differ(*path_of, why=why, do="name it in GlueArguments(spark_ui=Dataset(...))")
