"""Translates Glue's own arguments of a job into fields of `GlueArguments`: pure, on plain data.

Values that the constructs would write in another form are listed, never changed silently.
"""

import re

from tidemark.adopt.model import Runtime
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
    for name in [path[1] for path in job.left() if path[0] == DEFAULTS and len(path) == 2]:
        known = GLUE_ARGUMENTS.get(name)
        # Two arguments make spark_ui, and only both together: they are read at the end.
        if known is None or not known.field or known.field == "spark_ui":
            continue
        if command not in known.commands:
            _differ(job, name, UNKNOWN_TO_KIND)
        elif isinstance(runtime, ShellRuntime):
            files = _objects(str(job.get(DEFAULTS, name)), known.ends)
            if name == "--extra-py-files" and files:
                job.take(DEFAULTS, name)
                fields["extra_py_files"] = files
            else:
                _differ(job, name, FORM)
        elif known.is_known_by(runtime.glue_version):
            _of_spark(job, known, runtime, fields)
        else:
            _differ(job, name, UNKNOWN_TO_VERSION)
    if not isinstance(runtime, ShellRuntime):
        _spark_ui(job, fields)
    return fields


def other_arguments_of(job: Reading) -> dict[str, str]:
    """Return arguments that neither Glue nor `arguments=` knows: names with dashes inside."""
    others = {}
    for name in [path[1] for path in job.left() if path[0] == DEFAULTS and len(path) == 2]:
        text = str(job.get(DEFAULTS, name))
        is_other = UNDOCUMENTED.fullmatch(name) and "-" in name[2:] and name not in GLUE_ARGUMENTS
        if is_other and ONE_LINE.fullmatch(text) and not shows_secret(name.lstrip("-"), text):
            others[name] = str(job.take(DEFAULTS, name))
    return others


def _differ(job: Reading, name: str, reason: tuple[str, str]) -> None:
    why, do = reason
    job.differ(DEFAULTS, name, why=why, do=do)


def _of_spark(
    job: Reading,
    known: GlueArgument,
    runtime: JobRuntime | StreamingRuntime,
    fields: dict[str, object],
) -> None:
    name = known.name
    text = str(job.get(DEFAULTS, name))
    if known.form is Form.ON and text != "false":
        _switch_on(job, name, text, runtime, fields)
    elif not shows_secret("", text) and (value := _value(known, text, runtime)) is not None:
        job.take(DEFAULTS, name)
        fields[known.field] = value
    else:
        _differ(job, name, FORM)


def _switch_on(
    job: Reading,
    name: str,
    text: str,
    runtime: JobRuntime | StreamingRuntime,
    fields: dict[str, object],
) -> None:
    if name == LAKE_FORMATION and (
        runtime.number_of_workers < MIN_WORKERS or job.get(DEFAULTS, "--extra-jars")
    ):
        why = f"it takes {MIN_WORKERS} workers at least, and no extra jars"
        _differ(job, name, (why, "change one of them, then set it in glue_arguments="))
        return
    jars = str(job.get(DEFAULTS, "--extra-jars"))
    if name == "--user-jars-first" and not _objects(jars, GLUE_ARGUMENTS["--extra-jars"].ends):
        _differ(job, name, ("there are no extra jars to be first", "see --extra-jars"))
        return
    fields[GLUE_ARGUMENTS[name].field] = True
    if text == "true":
        job.take(DEFAULTS, name)
    else:
        _differ(job, name, ALWAYS_ON)


def _value(known: GlueArgument, text: str, runtime: JobRuntime | StreamingRuntime) -> object | None:
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


def _single(field: str, text: str, runtime: JobRuntime | StreamingRuntime) -> object | None:
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


def _objects(text: str, ends: tuple[str, ...] = ("",)) -> tuple[str, ...] | None:
    uris = tuple(text.split(","))
    is_list = all(OBJECT.fullmatch(uri) and uri.endswith(ends) for uri in uris)
    return uris if is_list and len(set(uris)) == len(uris) else None


def _spark_ui(job: Reading, fields: dict[str, object]) -> None:
    switch, path = (DEFAULTS, "--enable-spark-ui"), (DEFAULTS, "--spark-event-logs-path")
    text = job.get(*path)
    place = place_of(str(text)) if text else None
    if job.get(*switch) == "true" and place and place.uri == text:
        fields["spark_ui"] = place
        job.take(*switch)
        job.take(*path)
        return
    for path_of in (switch, path):
        if job.get(*path_of) is not None:
            why = "the UI is switched on by naming the folder of its logs"
            _differ(job, path_of[1], (why, "name it in GlueArguments(spark_ui=Dataset(...))"))
