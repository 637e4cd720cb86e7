"""Starts Spark's Python workers, with PySpark as it is installed, in the folder of their run.

Spark calls ``python -m tidemark.glue_job.process.worker_daemon`` for the property
``spark.python.daemon.module``.
"""

import errno
import os
import socket
import sys
from types import SimpleNamespace
from typing import Any

from tidemark.local_state.machine.peers import stranger


class Door(socket.socket):
    """A listening socket that accepts the JVM that started this process, and nobody else."""

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection.

        Raises:
            OSError: it was another's, and is closed: PySpark goes on after EINTR.
        """
        connection, address = super().accept()
        if stranger(connection, os.getppid()) is None:
            return connection, address
        connection.close()
        raise OSError(errno.EINTR, "the connection of another program was closed")


def leave_archives_out() -> None:
    """Remove two entries that Spark puts on the path: its archive of PySpark, and a jar.

    PySpark is installed, and Python reads the list of every archive on its path for each task.
    """
    home = os.environ.get("SPARK_HOME", "") + os.sep
    for archive in [path for path in sys.path if path.startswith(home)]:
        sys.path.remove(archive)
        sys.path_importer_cache.pop(archive, None)


def stand_in(folder: str) -> None:
    """Make a folder the current one: a warm JVM stays in the folder where it started."""
    before = os.getcwd()  # noqa: PTH109 (as text)
    os.chdir(folder)
    sys.path[:] = [folder if entry == before else entry for entry in sys.path]


def announce_changes(run_folder: str) -> None:
    """Announce what workers change by requests of boto3, if the home of their run records it."""
    home = os.path.dirname(os.path.dirname(run_folder))  # noqa: PTH120
    # Looked at before anything is imported: each run starts workers, and few homes record.
    if run_folder and os.path.isdir(os.path.join(home, "operations")):  # noqa: PTH112, PTH118
        from tidemark.glue_job.edge.hooks import announce_in_worker

        announce_in_worker(home, run_folder)


if __name__ == "__main__":
    leave_archives_out()
    if (run_folder := os.environ.pop("TIDEMARK_WORKER_FOLDER", None)) is not None:
        stand_in(run_folder)
    announce_changes(run_folder or os.environ.get("TIDEMARK_RUN_FOLDER", ""))
    from pyspark import daemon

    vars(daemon)["socket"] = SimpleNamespace(**{**vars(socket), "socket": Door})
    daemon.manager()  # type: ignore[no-untyped-call]
