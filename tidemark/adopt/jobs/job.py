"""Translates one job as Glue returns it into what `add_job` declares: pure, on plain data."""

import re
from collections.abc import Callable, Mapping

from tidemark.adopt.jobs.glue_arguments import glue_arguments_of, other_arguments_of
from tidemark.adopt.jobs.options import (
    DEFAULTS,
    FIXED,
    RESERVED,
    fixed_arguments_of,
    is_value,
    options_of,
    still_fixed,
)
from tidemark.adopt.jobs.runtimes import SHELL_PYTHON, runtime_of, shell_runtime_of
from tidemark.adopt.jobs.streaming import streaming_runtime_of
from tidemark.adopt.model import AdoptedJob, Folder, Reason, Runtime
from tidemark.adopt.places import place_of
from tidemark.adopt.reading import Reading
from tidemark.adopt.reasons import ANY, REASONS
from tidemark.model.assembly.definitions import DISABLE, ENABLE, PAUSE, SHELL, SPARK, STREAMING
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS
from tidemark.model.assembly.symbolic_names import is_intrinsic
from tidemark.model.plain_secrets import shows_secret

BOOKMARKS = {ENABLE: "ENABLE", DISABLE: "DISABLE", PAUSE: "PAUSE"}
RUNTIMES: Mapping[str, Callable[[Reading], Runtime]] = {
    SHELL: shell_runtime_of,
    STREAMING: streaming_runtime_of,
}
# As the constructs check them, which start Node when they are imported: a test compares.
NAME = re.compile(r"--[A-Za-z]\w*", re.ASCII)
PINNED = re.compile(
    r"[A-Za-z0-9][\w.-]*(\[[\w,-]+\])?==[\w.+!-]+|s3://[\w.-]{1,63}/[\w.+=!/-]+\.whl", re.ASCII
)
CONNECTION = re.compile(r"[^*?:/\s][^*?:/\n]{0,254}")


def kind_of(job: Reading) -> Reason | None:
    """Return why a job cannot be declared at all, and what to do; None if it can."""
    command = job.get("Command", "Name") or SPARK
    if command == "glueray":
        return "it is a Ray job", "keep it unchanged, or write it again in PySpark"
    if command not in (SPARK, SHELL, STREAMING):
        return f"its command is {command}, which is unknown here", "keep it unchanged"
    if job.get(DEFAULTS, "--job-language") == "scala":
        return "its script is Scala", "keep it unchanged, or write it again in Python"
    if job.get("Command", "PythonVersion") == "2":
        return "its script is Python 2", "port it to Python 3 first, then adopt it"
    if job.get("JobMode") == "NOTEBOOK":
        return (
            "it is a notebook",
            "save it as a script (Glue Studio: Actions, Download script), make a job of it, and "
            "adopt the job",
        )
    return None


def job_of(job: Reading, name: str, bookmark_of_runs: str | None = None) -> AdoptedJob:
    """Return what `add_job` declares of a job alone, and account for everything that it has."""
    job.differ_for(ANY["name taken"], "Name")
    command = job.take("Command", "Name") or SPARK
    is_shell, is_spark = command == SHELL, command not in (SHELL, STREAMING)
    python = SHELL_PYTHON if is_shell else "3"
    job.takes("Command", "PythonVersion", values=[python])
    why = f"the script is deployed with the app, from its repository, on Python {python}"
    job.differ("Command", why=why, do="from now on change it there")
    if command == STREAMING:
        job.takes(DEFAULTS, "--job-bookmark-option", values=[DISABLE])
    runtime = RUNTIMES.get(command, runtime_of)(job)
    bookmark = _bookmark(job, bookmark_of_runs) if is_spark else "DISABLE"
    table = job.take(DEFAULTS, "--watermark_table") if is_spark else None
    modules, temp = _modules(job), None if is_shell else _temp(job)
    job.takes(DEFAULTS, "--job-language", values=["python"])
    glue = glue_arguments_of(job, runtime, command)
    if others := other_arguments_of(job):
        glue["other"] = others
    arguments = _arguments(job)
    options = options_of(
        job,
        None if command == STREAMING else runtime.timeout_minutes,  # it reports no long run
        has_state=bookmark != "DISABLE" or table is not None or command == STREAMING,
    )
    if fixed := [*fixed_arguments_of(job, arguments), *still_fixed(job, bookmark)]:
        options["non_overridable"] = tuple(fixed)
    adopted = AdoptedJob(
        old=job.of.removeprefix("job "),
        name=name,
        runtime=runtime,
        bookmark=bookmark,
        script_location=job.get("Command", "ScriptLocation"),
        temp=temp,
        python_modules=modules,
        connections=_connections(job),
        watermark_table=None if table is None else str(table),
        arguments=arguments,
        glue=glue,
        options=options,
    )
    rest(job, REASONS["job"])
    if job.get("SecurityConfiguration") is None:
        job.differ_for(REASONS["job"]["SecurityConfiguration"], "SecurityConfiguration")
    return adopted


def rest(resource: Reading, fields: Mapping[str, Reason]) -> None:
    """List the remaining fields of a resource, each with its reason."""
    for field_name in dict.fromkeys(path[0] for path in resource.left()):
        resource.differ_for(fields.get(field_name, ANY["unknown"]), field_name)


def is_open(option: object) -> bool:
    """Return whether a bookmark option is known at deployment only: it is in braces."""
    return isinstance(option, str) and "{" in option


def _bookmark(job: Reading, of_runs: str | None) -> str:
    path = (DEFAULTS, "--job-bookmark-option")
    option = job.get(*path)
    is_fixed = job.get(FIXED, path[1]) is not None
    # A function or a macro may make some arguments, or all of them.
    maps = [job.get(of) for of in (DEFAULTS, FIXED) if option is None]
    are_made = any(is_intrinsic(given) or not isinstance(given, Mapping | None) for given in maps)
    if are_made or is_open(option if is_fixed or of_runs is None else of_runs):
        why = "only a deployment knows it; the job gets ENABLE, so that the steps carry a bookmark"
        job.differ(*path, why=why, do="look it up, and say which, in bookmark=")
        return "ENABLE"
    if of_runs in BOOKMARKS and of_runs != option and not is_fixed:
        why = f"the trigger that starts it says {of_runs}, and so the job does now"
        job.differ(*path, why=why, do="nothing, if nothing else starts it")
        return BOOKMARKS[of_runs]
    if option in BOOKMARKS:
        job.take(*path)
        return BOOKMARKS[option]
    why, do = "it was not set, which is job-bookmark-disable; now it is said", "nothing"
    if option is not None:
        why = "Glue knows enable, disable and pause; the job gets DISABLE"
        do = "say which, in bookmark="
    job.differ(*path, why=why, do=do)
    return "DISABLE"


def _temp(job: Reading) -> Folder | None:
    path = (DEFAULTS, "--TempDir")
    text = job.get(*path)
    if text is None:
        return None
    place = place_of(text)
    if place is None:
        why = "temporary files have a folder of a bucket, of letters, digits and _.=-"
        job.differ(*path, why=why, do="name a folder in temp=")
    elif place.uri == text:
        job.take(*path)
    else:
        job.differ(*path, why=f"it is written as {place.uri}", do="nothing")
    return place


def _modules(job: Reading) -> tuple[str, ...]:
    path = (DEFAULTS, "--additional-python-modules")
    text = job.get(*path)
    modules = tuple(str(text).split(",")) if text else ()
    names = [re.split(r"\[|==", module)[0].lower() for module in modules]
    if not modules or not all(map(PINNED.fullmatch, modules)) or len(set(names)) < len(names):
        return ()
    job.take(*path)
    return modules


def _connections(job: Reading) -> tuple[str, ...]:
    names = job.get("Connections", "Connections") or []
    if not names or not all(map(CONNECTION.fullmatch, names)):
        return ()
    return tuple(job.take("Connections", "Connections"))


def _arguments(job: Reading) -> dict[str, str]:
    """Return the arguments of the script; those that cannot be declared are listed."""
    arguments = {}
    for name in job.left_in(DEFAULTS):
        if reason := refusal(name, job.get(DEFAULTS, name)):
            job.differ_for(reason, DEFAULTS, name)
        else:
            arguments[name.removeprefix("--")] = str(job.take(DEFAULTS, name))
    return arguments


def refusal(name: str, value: object) -> Reason | None:
    """Return why a script cannot get an argument from the constructs, and what to do."""
    if name in REASONS["argument"]:
        return REASONS["argument"][name]
    if name in GLUE_ARGUMENTS:
        return f"Glue reads it; {GLUE_ARGUMENTS[name].instead}", "nothing, unless it mattered"
    if shows_secret(name.lstrip("-"), str(value)):
        return ANY["secret"]
    if not is_value(name, value):
        return ANY["no value"]
    return None if NAME.fullmatch(name) and name not in RESERVED else ANY["not a name"]
