"""Forks a process for each run from one that has imported what jobs import; on Linux only.

An order comes on a socket, with the end of a pipe. A process that attends to the run writes into
that pipe: the id of the run's process when it begins, and its exit code when it ends.
"""

import atexit
import contextlib
import gc
import os
import signal
import socket
import struct
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import NoReturn

from tidemark.local_state.machine.child import die_with_parent

CAN_FORK = sys.platform == "linux"  # macOS has libraries that fail in a fork
SIZE = struct.Struct("=Q")


def send_order(orders: socket.socket, order: bytes, report: int) -> None:
    """Send an order, and the end of a pipe for the report on its run."""
    socket.send_fds(orders, [SIZE.pack(len(order))], [report])
    orders.sendall(order)


def fork_for_each(
    orders: socket.socket, prepare: Callable[[bytes], None]
) -> tuple[bytes, int] | None:
    """Return each order in a process of its own, with its parent's id; None when no more come.

    When a run has begun, this process calls `prepare` with its order: it may do for the runs to
    come what each would do by itself.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel forgets those that attended
    forker = os.getpid()
    while True:
        size, reports, _, _ = socket.recv_fds(orders, SIZE.size, 1)
        if not size:
            return None
        (length,) = SIZE.unpack(size)
        order, report = orders.recv(length, socket.MSG_WAITALL), reports[0]
        try:
            pid = os.fork()
        except OSError:  # no memory or no process is left: the report says nothing
            pid = -1
        if pid == 0:
            orders.detach()  # the run's process has another stdin
            return order, _fork_and_attend(forker, report)
        os.close(report)
        prepare(order)


def end_forked(code: int, shipped: Sequence[str]) -> NoReturn:
    """End a forked process as Python does, but for the modules of libraries.

    To take these apart takes 50 ms, and they hold nothing of the run. What the script, or a module
    from a folder or a zip that is shipped with it, has left open is written to its end.
    """
    with contextlib.suppress(Exception):  # Python prints it and goes on, too
        threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    _flush()
    own = [
        name
        for name, module in [*sys.modules.items()]
        # multiprocessing has a second name for it.
        if module is sys.modules["__main__"]
        or str(getattr(module, "__file__", None)).startswith(tuple(shipped))
    ]
    modules = [weakref.ref(sys.modules.pop(name)) for name in own]
    gc.collect()  # objects end while what they use is still there
    for module in modules:
        if (left := module()) is not None:
            vars(left).clear()
    gc.collect()
    _flush()
    os._exit(code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # it was closed, or replaced, or nobody reads it
            stream.flush()


def _fork_and_attend(forker: int, report: int) -> int:
    """Fork the run's process, and return the parent's id there; in this process, only report."""
    die_with_parent(forker)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    attendant = os.getpid()
    if pid := os.fork():
        try:
            with contextlib.suppress(PermissionError):  # it has done so, and is another program
                os.setpgid(pid, pid)
            os.write(report, b"%d\n" % pid)
            _, status = os.waitpid(pid, 0)
            os.write(report, b"%d\n" % os.waitstatus_to_exitcode(status))
        finally:
            os._exit(0)
    os.close(report)
    os.setpgid(0, 0)
    return attendant
