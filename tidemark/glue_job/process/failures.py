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
from tidemark.model.advice import advice_of, advice_on
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
    # The line of the script at which its process got the signal to end.
    stack = log.rpartition(STACK)[2] if STACK in log else ""
    lines = [number for file, number in FRAME.findall(stack) if file == script]
    where = f" ({_cut(Path(script).name)}, line {lines[0]})" if lines else ""
    return f"Job run timed out after {limit}{where}; {advice_of('failures')['timed-out'].says()}"


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
            return advice_of("failures")["purged-before-read"].says(place=place, line=line)
    return ""


def without_result(exit_code: int, full_disk: str | None, kills: int) -> str:
    """Return the one line of a run whose process ended without writing a result."""
    cause = f"the job process ended with exit code {exit_code}"
    if exit_code < 0:
        cause = f"the job process was killed by {signal.Signals(-exit_code).name}"
    if full_disk:
        return f"{cause}; {advice_of('failures')['disk-full'].says(full_disk=full_disk)}"
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
    return advice_of("failures")["library-of-glue"].says(
        glue_version=places.glue_version, name=name, version=version, pip_install=places.pip_install
    )


def _remedy(cause: str, places: RemedyPlaces, full_disk: str | None) -> str:
    if full_disk and ("No space left on device" in cause or "disk" in cause):
        return advice_of("failures")["disk-full"].says(full_disk=full_disk)
    if of_memory := memory_failures.memory_remedy(cause):
        return of_memory
    if of_library := _library_remedy(cause, places):
        return of_library
    advice = advice_on("failures", cause)
    return advice.says(lake=str(places.lake), pip_install=places.pip_install) if advice else ""
