"""A recorder of the lake's changes, as a JVM talks to it; it can stop answering at any of them."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tidemark.glue_job.process.lake_fs.semantics import (
    COMMITTER,
    COMMITTER_OF_PARQUET,
    PROPERTY,
    S3,
)


@dataclass
class Recorder:
    """What the JVMs of a test have changed, in order.

    Attributes:
        path: of the socket.
        changes: each as a line, ``put s3://bucket/key``, in the order of their announcements.
        entered: how often a change began; more than the changes if some failed.
        connections: how many there were.
        before_answer: called before each answer that lets a change begin.
        stop_after: how many changes are made, after which none is let begin; None: all.
        on_stop: called then, with the id of the process that asked; before it gets no answer.
    """

    path: Path
    changes: list[str] = field(default_factory=list)
    entered: int = 0
    connections: int = 0
    before_answer: Callable[[], object] = lambda: None
    stop_after: int | None = None
    on_stop: Callable[[int], None] = lambda _: None
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def places(self, operation: str) -> list[str]:
        """Return the places of one kind of changes."""
        return [one.split(" ", 1)[1] for one in self.changes if one.startswith(f"{operation} ")]

    def serve(self, connection: socket.socket) -> None:
        """Answer one JVM until it leaves."""
        with connection, connection.makefile("rw", encoding="utf-8", newline="\n") as lines:
            while line := lines.readline():
                if line.startswith(("open\t", "list\t")):
                    _say(lines)
                    continue
                assert line == "enter\n"
                with self._turn:
                    if self._may_not_begin():
                        self.on_stop(_process_of(connection))
                        return
                    self._answer(lines)

    def _may_not_begin(self) -> bool:
        self.entered += 1
        return self.stop_after is not None and len(self.changes) >= self.stop_after

    def _answer(self, lines) -> None:
        self.before_answer()
        _say(lines)
        words = lines.readline().rstrip("\n").split("\t")
        assert words[0] == "leave"
        if words[1:]:
            self.changes.append(" ".join(words[1:]))
        _say(lines)


@contextmanager
def s3_semantics(spark: Any, recorder: Recorder) -> Iterator[None]:
    """Let Spark of this process have S3's semantics, and Glue's committer, as long as it runs."""
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    given = {
        "fs.s3.impl.disable.cache": "true",  # each call gets a file system with these settings
        PROPERTY: S3,
        "tidemark.edge": str(recorder.path),
        COMMITTER_OF_PARQUET: COMMITTER,
    }
    for name, value in given.items():
        conf.set(name, value)
    try:
        yield
    finally:
        for name in given:
            conf.unset(name)


def _process_of(connection: socket.socket) -> int:
    size = struct.calcsize("3i")
    process, _, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    )
    return int(process)


def _say(lines) -> None:
    with suppress(BrokenPipeError):
        lines.write("go\n")
        lines.flush()


@contextmanager
def recording() -> Iterator[Recorder]:
    """Serve a recorder as long as the block runs."""
    with TemporaryDirectory(prefix="edge-") as folder, socket.socket(socket.AF_UNIX) as listener:
        recorder = Recorder(Path(folder) / "s")
        listener.bind(str(recorder.path))
        listener.listen()

        def accept() -> None:
            with suppress(OSError):  # the block has ended
                while True:
                    connection, _ = listener.accept()
                    recorder.connections += 1
                    threading.Thread(target=recorder.serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield recorder
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
