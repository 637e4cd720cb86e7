"""One JVM with Spark: its start and its end."""

import contextlib
import os
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tidemark.errors import TidemarkError
from tidemark.glue_job.process.spark import CONF_FILE
from tidemark.glue_service.runs.jvms.output import Output
from tidemark.local_state.machine import child

START_TIMEOUT_S = 120.0
END_TIMEOUT_S = 5.0
POLL_S = 0.02
LAST_WORDS_BYTES = 4000
CONNECTION_FILE = "connection"  # port and secret, written by Spark's gateway


class Jvm:
    """A JVM that runs Spark's gateway; it dies with the process that started it.

    Attributes:
        folder: its own folder, for temporary files and its output between runs.
    """

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        """Start one; `wait_until_ready` returns when it answers.

        The thread that calls this must outlive the JVM: Linux ends a child with the thread that
        created it.
        """
        self.folder = folder
        (out, out_of_jvm), (err, err_of_jvm) = os.pipe(), os.pipe()
        try:
            self._process = self._start(variables, out_of_jvm, err_of_jvm)
        except OSError:
            os.close(out)
            os.close(err)
            raise
        finally:
            os.close(out_of_jvm)
            os.close(err_of_jvm)
        self.stdout = Output(out, folder / "stdout.log")
        self.stderr = Output(err, folder / "stderr.log")

    def _start(self, variables: Mapping[str, str], out: int, err: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 (Spark's own script)
            [
                sys.executable,
                "-S",
                "-E",
                child.__file__,
                str(os.getpid()),
                f"{variables['SPARK_HOME']}/bin/spark-submit",
                "--properties-file",
                str(self.folder / CONF_FILE),
                "pyspark-shell",
            ],
            cwd=self.folder,
            env={**variables, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self.folder / CONNECTION_FILE)},
            stdin=subprocess.PIPE,  # the gateway ends when it is closed
            stdout=out,
            stderr=err,
            start_new_session=True,  # Ctrl-C ends the jobs first
        )

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def wait_until_ready(self) -> tuple[int, str]:
        """Wait for the gateway; return its port and its secret."""
        deadline = time.monotonic() + START_TIMEOUT_S
        file = self.folder / CONNECTION_FILE
        while not file.is_file():
            if not self.is_alive or time.monotonic() > deadline:
                self.end()
                raise TidemarkError(f"a JVM did not start: {self.last_words() or 'no output'}")
            time.sleep(POLL_S)
        content = file.read_bytes()
        port, length = struct.unpack(">ii", content[:8])
        return port, content[8 : 8 + length].decode()

    def last_words(self) -> str:
        """Return the end of an ended JVM's output outside runs."""
        with contextlib.suppress(OSError):
            text = (self.folder / "stderr.log").read_bytes()[-LAST_WORDS_BYTES:]
            return text.decode("utf-8", errors="replace").strip()
        return ""

    def end(self) -> None:
        """Kill it, and wait until its whole output is in its file."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        for output in (self.stdout, self.stderr):
            output.wait_for_end(END_TIMEOUT_S)
