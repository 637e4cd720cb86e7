"""Runs one job script inside its own process, as Glue does: argv, working folder, error report.

Called as ``python -m local_glue.job_process PARENT_PID SCRIPT ARGUMENTS...``. Writes `RESULT_FILE`
into the current folder when the script fails.
"""

import contextlib
import json
import os
import runpy
import subprocess
import sys
import traceback
from pathlib import Path
from types import TracebackType

from local_glue.advice import note_at_end
from local_glue.bookmarks.session import current_session
from local_glue.child import die_with_parent

RESULT_FILE = "error.json"
JVM_GRACE_S = 5.0
BOOKMARK_VARIABLE = "TIDEMARK_BOOKMARK_OPTION"


def main() -> int:
    """Run the script; return 0 if it ended normally, 1 if it failed."""
    parent_pid, script = int(sys.argv[1]), sys.argv[2]
    die_with_parent(parent_pid)
    sys.argv = sys.argv[2:]
    result = Path(RESULT_FILE).absolute()
    try:
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as error:
            if error.code not in (None, 0):
                raise
        note_at_end(Path(script), os.environ.get(BOOKMARK_VARIABLE, ""), current_session())
    except BaseException as error:  # noqa: BLE001 (whatever a user's script raises fails its run)
        _report(result, error, script)
    else:
        return 0
    finally:
        _stop_spark()
    return 1


def _report(result: Path, error: BaseException, script: str) -> None:
    """Print the traceback from the script's own first line on, and write the result file."""
    frames = _from_script(error.__traceback__, script)
    traceback.print_exception(type(error), error, frames)
    message = f"{type(error).__name__}: {error}".strip()
    if frames is not None:
        message += f" ({Path(script).name}, line {_last_line_in(frames, script)})"
    unfinished = result.with_suffix(".unfinished")
    unfinished.write_text(json.dumps({"error_message": message}), encoding="utf-8")
    unfinished.replace(result)


def _from_script(frames: TracebackType | None, script: str) -> TracebackType | None:
    while frames is not None and frames.tb_frame.f_code.co_filename != script:
        frames = frames.tb_next
    return frames


def _last_line_in(frames: TracebackType, script: str) -> int:
    line, frame = frames.tb_lineno, frames.tb_next
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == script:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def _stop_spark() -> None:
    """Stop a Spark context that the script left open, so that its event log is complete; end it."""
    pyspark = sys.modules.get("pyspark")
    context = pyspark.SparkContext._active_spark_context if pyspark else None
    if context is not None:
        context.stop()
    gateway = pyspark.SparkContext._gateway if pyspark else None
    jvm = getattr(gateway, "proc", None)
    if jvm is not None:  # which removes its temporary files when its input ends
        jvm.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            jvm.wait(JVM_GRACE_S)


if __name__ == "__main__":
    sys.exit(main())
