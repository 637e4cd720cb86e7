"""Translates Glue's own arguments of a job into fields of `GlueArguments`: pure, on plain data.

Values that the constructs would write in another form are listed, never changed silently.
"""

import re
from collections.abc import Callable

from tidemark.adopt.model import Runtime
from tidemark.adopt.places import place_of
from tidemark.adopt.reading import Reading
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS
from tidemark.model.assembly.glue_versions import AUTO
from tidemark.model.plain_secrets import shows_secret
from tidemark.model.stage.runtime import JobRuntime
from tidemark.model.stage.shell_runtime import ShellRuntime
from tidemark.model.stage.streaming_runtime import StreamingRuntime

DEFAULTS = "DefaultArguments"
FORMATS = ("hudi", "delta", "iceberg")
ENDS = {"extra_jars": (".jar",), "extra_py_files": (".py", ".zip", ".whl", ".egg")}
# As the constructs check them, which start Node when they are imported.
OBJECT = re.compile(r"s3://[\w.-]+/[\w.+=!@/-]*[\w.+=!@-]", re.ASCII)
SETTING = re.compile(r"([A-Za-z][\w.-]*)=([^\s'\"]+)", re.ASCII)
VARIABLE = re.compile(r"(CUSTOMER_\w+)=([^\r\n'\"\\, ]*)", re.ASCII)
KEY_ARN = re.compile(r"arn:[\w-]+:kms:[\w-]+:\d{12}:key/[\w-]+", re.ASCII)
LOG_STREAM = re.compile(r"[^:*\s]{1,400}")
OTHER = re.compile(r"--[A-Za-z][\w-]*", re.ASCII)
ONE_LINE = re.compile(r"[^\r\n]+")
FORM = ("GlueArguments writes it in another form", "set it in glue_arguments=")
UNKNOWN_TO_VERSION = ("the version of Glue does not know it", "nothing")
UNKNOWN_TO_KIND = ("Glue does not read it of a job of this kind", "nothing")
ALWAYS_ON = ("GlueArguments sets it as true", "nothing: Glue takes any value")
LAKE_FORMATION = "--enable-lakeformation-fine-grained-access"
MIN_WORKERS = 4  # of a job whose tables Lake Formation filters
ON = (
    "--disable-proxy-v2",
    "--enable-glue-datacatalog",
    LAKE_FORMATION,
    "--enable-observability-metrics",
    "--user-jars-first",
)
ON_OR_OFF = ("--enable-job-insights", "--enable-s3-parquet-optimized-committer")


def glue_arguments_of(job: Reading, runtime: Runtime, command: str) -> dict[str, object]:
    """Return the fields of `GlueArguments`, and account for the arguments that they set."""
    fields: dict[str, object] = {}
    for name in [path[1] for path in job.left() if path[0] == DEFAULTS and len(path) == 2]:
        known = GLUE_ARGUMENTS.get(name)
        if known is None or not known.field or known.field == "spark_ui":
            continue
        if command not in known.commands:
            _differ(job, name, UNKNOWN_TO_KIND)
        elif isinstance(runtime, ShellRuntime):
            files = _objects(str(job.get(DEFAULTS, name)), ENDS["extra_py_files"])
            if name == "--extra-py-files" and files:
                job.take(DEFAULTS, name)
                fields["extra_py_files"] = files
            else:
                _differ(job, name, FORM)
        elif known.is_known_by(runtime.glue_version):
            _of_spark(job, name, runtime, fields)
        else:
            _differ(job, name, UNKNOWN_TO_VERSION)
    if not isinstance(runtime, ShellRuntime):
        _spark_ui(job, fields)
    return fields


def other_arguments_of(job: Reading) -> dict[str, str]:
    """Return arguments that neither Glue nor `arguments=` knows: names with dashes inside."""
    found = {}
    for name in [path[1] for path in job.left() if path[0] == DEFAULTS and len(path) == 2]:
        text = str(job.get(DEFAULTS, name))
        is_other = OTHER.fullmatch(name) and "-" in name[2:] and name not in GLUE_ARGUMENTS
        if is_other and ONE_LINE.fullmatch(text) and not shows_secret(name.lstrip("-"), text):
            found[name] = str(job.take(DEFAULTS, name))
    return found


def _differ(job: Reading, name: str, reason: tuple[str, str]) -> None:
    why, do = reason
    job.differ(DEFAULTS, name, why=why, do=do)


def _of_spark(
    job: Reading, name: str, runtime: JobRuntime | StreamingRuntime, fields: dict[str, object]
) -> None:
    text = str(job.get(DEFAULTS, name))
    if name in ON and text != "false":
        _switch_on(job, name, text, runtime, fields)
    elif not shows_secret("", text) and (value := _value(name, text, runtime)) is not None:
        job.take(DEFAULTS, name)
        fields[GLUE_ARGUMENTS[name].field] = value
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
    if name == "--user-jars-first" and not _objects(jars, ENDS["extra_jars"]):
        _differ(job, name, ("there are no extra jars to be first", "see --extra-jars"))
        return
    fields[GLUE_ARGUMENTS[name].field] = True
    if text == "true":
        job.take(DEFAULTS, name)
    else:
        _differ(job, name, ALWAYS_ON)


def _value(name: str, text: str, runtime: JobRuntime | StreamingRuntime) -> object | None:
    """Return the value of a field that the constructs write as this string; None without one."""
    if name in ON_OR_OFF:
        return {"true": True, "false": False}.get(text)
    readers: dict[str, Callable[[str], object | None]] = {
        "--auto-upgrade-metadata-kms-key-arn": lambda it: _key(it, runtime),
        "--conf": _conf,
        "--customer-driver-env-vars": _variables,
        "--customer-executor-env-vars": _variables,
        "--custom-logStream-prefix": lambda it: it if LOG_STREAM.fullmatch(it) else None,
        "--datalake-formats": _formats,
        "--executor-cores": lambda it: _cores(it, runtime),
        "--extra-files": _objects,
        "--extra-jars": lambda it: _objects(it, ENDS["extra_jars"]),
        "--extra-py-files": lambda it: _objects(it, ENDS["extra_py_files"]),
    }
    read = readers.get(name)
    return read(text) if read else None


def _key(text: str, runtime: JobRuntime | StreamingRuntime) -> str | None:
    return text if runtime.glue_version == AUTO and KEY_ARN.fullmatch(text) else None


def _conf(text: str) -> dict[str, str] | None:
    return _pairs(text.split(" --conf "), SETTING)


def _variables(text: str) -> dict[str, str] | None:
    return _pairs(text.split(","), VARIABLE)


def _pairs(parts: list[str], form: re.Pattern[str]) -> dict[str, str] | None:
    matches = [form.fullmatch(part) for part in parts]
    found = {match[1]: match[2] for match in matches if match}
    if len(found) < len(parts) or any(shows_secret(*pair) for pair in found.items()):
        return None
    return found


def _formats(text: str) -> tuple[str, ...] | None:
    names = tuple(text.split(","))
    return names if set(names) <= set(FORMATS) and len(set(names)) == len(names) else None


def _cores(text: str, runtime: JobRuntime | StreamingRuntime) -> int | None:
    most = int(2 * 4 * runtime.dpus_of_worker)
    return int(text) if text.isdecimal() and 1 <= int(text) <= most else None


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
    for one in (switch, path):
        if job.get(*one) is not None:
            why = "the UI is switched on by naming the folder of its logs"
            _differ(job, one[1], (why, "name it in GlueArguments(spark_ui=Dataset(...))"))
