"""Reduces a failed job to the one line that a person needs: cause, line of the script, remedy.

Everything else is in the run's log.
"""

import re
import signal
import sys
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from tidemark.glue_job.process import memory_failures
from tidemark.local_state.machine.loopback import without_secrets
from tidemark.model.assembly.glue_versions import library_with
from tidemark.model.messages import JVM_GONE

MAX_LENGTH = 600
SHELL_SIGNAL = 128  # a shell adds it to the signal that ended its command
OWN_MODULES = ("awsglue", "tidemark", "watermarks")  # their messages are for the operator
PY4J_PREFIX = "An error occurred while calling"  # the stack may be missing, for lack of memory
# Python reports these when its JVM is gone. Clients of servers name the server that refused.
JVM_IS_GONE = re.compile(
    r"Py4JNetworkError|Answer from Java side is empty|Error while (sending|receiving|obtaining)"
    r"|does not exist in the JVM|^((?!onnect|refused|HTTP|urlopen).)*Connection(Refused|Reset)Error"
    r"|^Py4JError: An error occurred while calling \S+$|JAVA_GATEWAY_EXITED"
    r"|Java gateway process exited"
)
# Spark reports these when something has stopped it, such as an error that no JVM survives.
SPARK_IS_STOPPED = re.compile(
    r"SparkContext (was|has been) (shut down|shutdown)|stopped SparkContext|SparkContext is stopped"
    r"|JVM is shutting down|Shutdown in progress"
)
PY4J_CALL = re.compile(rf"^Py4JError|^Py4JJavaError: {PY4J_PREFIX}")  # the JVM has not told more
PYTHON_WORKER_DIED = re.compile(r"Python worker (exited|crashed|failed)|^EOFError$")
LOST_TASK = re.compile(r"most recent failure: .*?\(TID \d+\) \([^)]*\): (.+)")
JAVA_CAUSE = re.compile(r"^Caused by: (.+)$", re.MULTILINE)
JAVA_ERROR = re.compile(r"^: (.+)$", re.MULTILINE)  # what Py4J puts before the stack
TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\S.*)")
# The second is PySpark's: "PyArrow >= 4.0.0 must be installed; however, it was not found."
MISSING_LIBRARY = re.compile(
    r"No module named '(?P<module>\w+)'|(?P<library>\w+) >= [\d.]+ must be installed"
)
STACK = " (most recent call first):"  # what faulthandler writes before a stack
# Spark 4 names the line that made the column whose value it cannot compute.
CALLED_FROM = re.compile(r'^"\w+" was called from\n(.+):(\d+)$', re.MULTILINE)
FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@dataclass(frozen=True)
class Failure:
    """Why a script failed.

    Attributes:
        cause: class and message of the innermost error with a message, in one line.
        where: file and line of the script; empty if no line of it ran.
        remedy: what to do about it, if the job's process knows.
    """

    cause: str
    where: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.cause} ({self.where})" if self.where else self.cause


@dataclass(frozen=True)
class RemedyPlaces:
    """What a remedy names: the buckets, the Python of the job, and its version of Glue."""

    lake: Path
    python: str
    glue_version: str = ""

    @property
    def pip_install(self) -> str:
        """The command that installs into that Python, which may have no pip of its own."""
        other = "" if self.python == sys.executable else f" --python {self.python}"
        return f"{sys.executable} -m pip{other} install"


def failure_of(error: BaseException, script: str) -> Failure:
    """Return why a script failed."""
    return Failure(cause_of(error), _where(error, script))


def cause_of(error: BaseException) -> str:
    """Return class and message of the innermost error with a message, in one line."""
    own = _own_cause(error)
    errors = _with_causes(error)
    if len(errors) == 1 or type(error).__module__.partition(".")[0] in OWN_MODULES:
        return own
    reason = _own_cause(errors[-1])
    return own if reason in own else _cut(f"{own}; caused by {reason}")


def _with_causes(error: BaseException) -> list[BaseException]:
    errors = [error]  # `raise error from error` is allowed, and so are longer rings
    while (cause := errors[-1].__cause__) is not None and all(cause is not e for e in errors):
        errors.append(cause)
    return errors


def _own_cause(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 (Py4J asks the JVM for the text, and that may be gone)
        text = "Error while receiving its text"
    if isinstance(error, BaseExceptionGroup):
        return _cut(f"{type(error).__name__}: {text}: {_own_cause(error.exceptions[0])}")
    return cause_in_message(type(error).__name__, text)


def cause_in_message(name: str, text: str) -> str:
    """Return the most useful line of an error message, which may hold whole stacks."""
    if errors := TRACEBACK.findall(text):  # of a Python function that ran in a worker of Spark
        return _cut(errors[-1])
    java = JAVA_ERROR.findall(text) + JAVA_CAUSE.findall(text)
    if java and ("\tat " in text or text.startswith(PY4J_PREFIX)):
        telling = [line for line in java if ": " in line]
        return _cut(_without_task((telling or java)[-1]))
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return _cut(_without_task(f"{name}: {first.removesuffix(';')}" if first else name))


def _without_task(line: str) -> str:
    lost = LOST_TASK.search(line)
    return lost.group(1) if lost else line


def _cut(line: str) -> str:
    """Return a line that every terminal and database accepts, limited in length."""
    line = without_secrets(line)
    line = "".join(
        c if c.isprintable() else " " if c.isspace() else c.encode("unicode_escape").decode()
        for c in line[: MAX_LENGTH + 1]
    )
    return line if len(line) <= MAX_LENGTH else f"{line[: MAX_LENGTH - 1]}…"


def _where(error: BaseException, script: str) -> str:
    """Return the innermost line of the script: of an expression or in a worker, if it is known."""
    name = _cut(Path(script).name)
    message = "\n".join(map(_message, _with_causes(error)))
    frames = CALLED_FROM.findall(message) or (TRACEBACK.search(message) and FRAME.findall(message))
    if lines := [number for file, number in frames or () if file == script]:
        return f"{name}, line {lines[-1]}"
    frame, line = error.__traceback__, 0
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == script:
            line = frame.tb_lineno
        frame = frame.tb_next
    return f"{name}, line {line}" if line else ""


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 (see cause_of)
        return ""


def print_from_script(error: BaseException, script: str) -> None:
    """Print the traceback of an error, starting in the script, without secrets."""
    frames = from_script(error.__traceback__, script)
    lines = traceback.format_exception(type(error), error, frames)
    sys.stderr.write(without_secrets("".join(map(_without_plan, lines))))


def _without_plan(line: str) -> str:
    # The plan of Spark names our columns too, which nobody has written.
    message, plan, _ = line.partition(";\n'")
    return f"{message}\n" if plan and "AnalysisException" in message else line


def from_script(frames: TracebackType | None, script: str) -> TracebackType | None:
    """Return the part of a traceback that begins in the script; None if no part does."""
    while frames is not None and frames.tb_frame.f_code.co_filename != script:
        frames = frames.tb_next
    return frames


def with_remedy(
    failure: Failure, log: str, places: RemedyPlaces, full_disk: str | None, kills: int = 0
) -> str:
    """Return the one line of a failed run: what went wrong, where, and what to do if known."""
    failure = first_cause(failure, log, kills)
    remedy = failure.remedy or _remedy(failure.cause, places, full_disk)
    return f"{failure}; {remedy}" if remedy else str(failure)


def first_cause(failure: Failure, log: str, kills: int = 0) -> Failure:
    """Return why a script failed; if the JVM is gone, the cause is what it wrote before."""
    is_gone = JVM_IS_GONE.search(failure.cause)
    if not is_gone and not SPARK_IS_STOPPED.search(failure.cause):
        if kills > 0 and PYTHON_WORKER_DIED.search(failure.cause):
            return replace(failure, remedy=memory_failures.killed_remedy(kills))
        if PY4J_CALL.search(failure.cause) and (line := memory_failures.memory_line(log)):
            return Failure(_cut(line), failure.where)
        return failure
    if line := memory_failures.memory_line(log):
        return Failure(_cut(line), failure.where)
    if not is_gone:
        return failure
    remedy = failure.remedy or memory_failures.gone_remedy(kills)
    return Failure(f"{JVM_GONE} ({failure.cause})", failure.where, remedy)


def timed_out(minutes: float, script: str, log: str) -> str:
    """Return the one line of a run that its time limit has ended: the limit, where, what to do.

    Example: timed_out(60, "/etl/load.py", "") begins "Job run timed out after 60 minutes; ".
    Source: https://docs.aws.amazon.com/glue/latest/dg/job-run-statuses.html
    """
    limit = f"{minutes:g} minute{'' if minutes == 1 else 's'}"
    where = line_at_the_end(script, log)
    return (
        f"Job run timed out after {limit}{f' ({where})' if where else ''}; find out what it waited "
        "for there, let one run read less, or raise the limit: timeout_minutes of the job's "
        "construct or of its trigger (Timeout on AWS), tidemark submit --timeout"
    )


def line_at_the_end(script: str, log: str) -> str:
    """Return the line of the script at which its process got the signal to end; else nothing."""
    stack = log.rpartition(STACK)[2] if STACK in log else ""
    lines = [number for file, number in FRAME.findall(stack) if file == script]
    return f"{_cut(Path(script).name)}, line {lines[0]}" if lines else ""


GONE = re.compile(r"No such file or directory: (s3[an]?://\S+)|cannot read (\S+) .*FileNotFoundErr")
_deleted: dict[str, list[tuple[str, int]]] = {}  # where each place was purged, file and line


def note_deletion(uri: str) -> None:
    """Note the place that the caller deletes files of, and the lines that are running."""
    stack = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_stack(None)]
    _deleted[uri.rstrip("/")] = stack


def remedy_of_deletion(cause: str, script: str) -> str:
    """Return what to do about a failed read of a file that the script has deleted; else nothing."""
    if (gone := GONE.search(cause)) is None:
        return ""
    file = (gone[1] or gone[2]).partition("://")[2]
    for place, stack in reversed(_deleted.items()):
        if file == (folder := place.partition("://")[2]) or file.startswith(f"{folder}/"):
            line = next((f", line {line}" for name, line in stack if name == script), "")
            return (
                f"the script itself has deleted the files of {place} by a purge{line}, and Spark "
                "reads a file only when a frame is written or counted: write first, to another "
                "path, and purge then"
            )
    return ""


def without_result(exit_code: int, full_disk: str | None, kills: int) -> str:
    """Return the one line of a run whose process ended without writing a result."""
    cause = f"the job process ended with exit code {exit_code}"
    if exit_code < 0:
        cause = f"the job process was killed by {signal.Signals(-exit_code).name}"
    if full_disk:
        return f"{cause}; {full_disk}: make room, then run again"
    is_killed = exit_code in (-signal.SIGKILL, SHELL_SIGNAL + signal.SIGKILL)
    return f"{cause}; {memory_failures.killed_remedy(kills)}" if is_killed else cause


def _library_remedy(cause: str, places: RemedyPlaces) -> str:
    """Return what to do about a library that is missing here, and that AWS has installed."""
    missing = MISSING_LIBRARY.search(cause)
    if missing is None:
        return ""
    module = missing["module"] or missing["library"].lower()
    if (library := library_with(module, places.glue_version)) is None:
        return ""
    name, version = library
    return (
        f"Glue {places.glue_version} has {name} {version} installed, so the job needs no argument "
        f"for it on AWS; here run `{places.pip_install} {name}=={version}`"
    )


def _remedy(cause: str, places: RemedyPlaces, full_disk: str | None) -> str:
    if full_disk and ("No space left on device" in cause or "disk" in cause):
        return f"{full_disk}: make room, then run again"
    if of_memory := memory_failures.memory_remedy(cause):
        return of_memory
    if of_library := _library_remedy(cause, places):
        return of_library
    remedies = {
        r"(ClassNotFound|NoClassDefFound|DATA_SOURCE_NOT_FOUND).*\b(iceberg|hudi|delta)\b": (
            "give the job the argument --datalake-formats with iceberg, hudi or delta, as on AWS; "
            "this machine needs a jar of the format, which --extra-jars can name"
        ),
        r"ClassNotFoundException|NoClassDefFoundError|No suitable driver|DATA_SOURCE_NOT_FOUND": (
            "the class is in none of Spark's jars: name the jar that has it, such as a JDBC "
            "driver, in --extra-jars"
        ),
        r"\bXSDB6\b|Another instance of Derby": (
            "one process at a time opens a database of Derby: wait for the other run that has it "
            "open; with --executors, which are processes of their own, use PostgreSQL"
        ),
        r"GlueArgumentError: the following arguments are required": (
            "declare what is missing in `arguments=` of the job's construct (DefaultArguments on "
            "AWS), or pass it after the script, as in `tidemark submit SCRIPT --name value`"
        ),
        r"WatermarkTableError: there is no DynamoDB": (
            "on this machine `tidemark run` creates the tables of its app, and `tidemark local "
            "table NAME` one for a script that is submitted without an app"
        ),
        r"No module named 'awsglue.blueprint": (
            "a blueprint is not a job: Glue calls its layout to create a workflow; submit the "
            "scripts of the jobs that it names"
        ),
        r"No module named '(delta|hudi)\b": (
            "the module is in the jar of the format: give the job the argument --datalake-formats "
            "with delta or hudi, as on AWS; this machine needs that jar, which --extra-jars can "
            f"name, and the Python package for it, as in `{places.pip_install} delta-spark`"
        ),
        r"PARSE_SYNTAX_ERROR.*MATERIALIZED": (
            "open-source Spark has no materialized views: on AWS, compute that it manages keeps "
            "one up to date; write the query into a table here, by INSERT OVERWRITE"
        ),
        r"PARSE_SYNTAX_ERROR.*'(CALL|BRANCH|TAG|FIELD)'": (
            "this is SQL of Iceberg, which Spark has by an extension: set spark.sql.extensions to "
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions, in --conf or "
            "before the session starts"
        ),
        r"ModuleNotFoundError": (
            "pass your own modules in --extra-py-files; install a package with "
            f"`{places.pip_install}`, and name it for AWS in --additional-python-modules"
        ),
        r"(No such file or directory|Failed to open file): s3\S+/metadata/\S+\.avro"
        r"|No such file or directory: s3\S+/\d{5}-\d+-[\da-f-]{36}-\S+": (
            "the table of Iceberg that has this file has lost it: restore a backup that was made "
            "with --lake, by `tidemark local restore FILE`, or roll the table back to a snapshot "
            "that has all of its files"
        ),
        r"No such file or directory: s3[an]?://|FileNotFoundError.*run again": (
            "Spark reads a file only when a frame is written or counted, and something has deleted "
            "this one since its source was opened, such as an overwrite by this script or another "
            "job: write to another path"
        ),
        r"PATH_NOT_FOUND.*s3[an]?://": f"buckets are the folders of {places.lake}",
        r"access key of this port": (
            "the script gives a client of AWS an access key: leave it out, and the client takes "
            "one in the environment, here as on AWS; or set TIDEMARK_ANY_KEY=1, so that the port "
            "accepts every key"
        ),
        r"InvalidAccessKeyId|UnrecognizedClient|InvalidClientTokenId|EndpointConnectionError": (
            "jobs on this machine have no AWS account: set AWS_ENDPOINT_URL_<SERVICE> to an "
            "endpoint that stands in for the service"
        ),
        r"AccessDenied": (
            "on AWS the job's role needs this permission; here the endpoint or file that refuses "
            "decides"
        ),
    }
    return next((text for form, text in remedies.items() if re.search(form, cause)), "")
