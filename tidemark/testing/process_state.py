"""The state of the Python process that a script may change, kept before a run and restored after.

A job run on Glue is a process: its state ends with it. A test's process continues.
"""

from __future__ import annotations

import atexit
import contextlib
import decimal
import gc
import locale
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

THREAD_PATIENCE_S = 10.0
UNSEEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
KEPT_OF_SYS = ("stdin", "stdout", "stderr", "excepthook", "displayhook", "unraisablehook")
# Calls that end or double the process: a run that makes one needs its own process.
ENDS = ("_exit", "abort", "fork", "forkpty", "killpg", "execv", "execve", "setsid")


class NeedsProcessError(BaseException):
    """A script does something that needs its own process; it may not catch this by Exception."""


@cache
def default_path() -> tuple[str, ...]:
    """Return ``sys.path`` of a new Python process of this interpreter, as a job run has it."""
    result = subprocess.run(
        [sys.executable, "-P", "-c", "import sys; print('\\n'.join(sys.path))"],
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(result.stdout.splitlines())


@contextmanager
def like_a_process(
    *,
    arguments: Sequence[str],
    variables: Mapping[str, str],
    folder: Path,
    path: Sequence[str],
    hidden: Path,
    refuse: Callable[[str], NeedsProcessError],
) -> Iterator[None]:
    """Make this process look like that of a job run during the block.

    Args:
        arguments: ``sys.argv``.
        variables: the whole environment.
        folder: the working folder.
        path: what comes before `default_path` in ``sys.path``.
        hidden: the project: its modules that tests have imported are hidden from the script.
        refuse: builds the error for a call that would end or duplicate this process.
    """
    with ExitStack() as stack:
        _keep_settings(stack)
        _keep_logging(stack)
        _keep_signals(stack)
        _leave_loop(stack)
        _keep_modules(stack, hidden, folder, path)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        _guard(patch, refuse)
        _keep_notes(stack, patch)
        patch.setattr(sys, "argv", list(arguments))
        _keep_folder(stack)
        _set_environment(variables)
        os.chdir(folder)
        stack.enter_context(_plain_warnings())
        yield


def _guard(patch: pytest.MonkeyPatch, refuse: Callable[[str], NeedsProcessError]) -> None:
    def guarded(name: str) -> Callable[..., Any]:
        def call(*_: object, **__: object) -> Any:
            raise refuse(f"the script calls os.{name}")

        return call

    kill = os.kill

    def kill_other(pid: int, number: int) -> None:
        if pid in (0, -1, os.getpid()) and number:
            raise refuse("the script sends its own process a signal")
        kill(pid, number)

    for name in ENDS:
        patch.setattr(os, name, guarded(name))
    patch.setattr(os, "kill", kill_other)


def _keep_notes(stack: ExitStack, patch: pytest.MonkeyPatch) -> None:
    """Let the watermark library, if a test has imported it, know of this run alone."""
    notes: Any = sys.modules.get("watermarks.run_notes")
    if notes is not None:
        patch.setattr(notes, "_notes", {})
        patch.setattr(notes, "_committed", {})
        notes.code_digests.cache_clear()  # of the script that ran before
        stack.callback(notes.code_digests.cache_clear)


def _keep_folder(stack: ExitStack) -> None:
    mask = os.umask(0o022)
    os.umask(mask)
    stack.callback(_set_environment, dict(os.environ))
    stack.callback(os.umask, mask)
    stack.callback(os.chdir, Path.cwd())


def _set_environment(variables: Mapping[str, str]) -> None:
    for name in set(os.environ) - set(variables):
        del os.environ[name]
    os.environ.update(variables)
    time.tzset()


def _keep_settings(stack: ExitStack) -> None:
    names, traced = locale.setlocale(locale.LC_ALL), sys.gettrace()

    def trace_again() -> None:
        if sys.gettrace() is not traced:
            sys.settrace(traced)

    def speak_again() -> None:
        with contextlib.suppress(locale.Error):
            locale.setlocale(locale.LC_ALL, names)

    for name in (*KEPT_OF_SYS, "meta_path"):
        stack.callback(setattr, sys, name, getattr(sys, name))
    stack.callback(sys.meta_path.__setitem__, slice(None), list(sys.meta_path))
    stack.callback(sys.setrecursionlimit, sys.getrecursionlimit())
    stack.callback(socket.setdefaulttimeout, socket.getdefaulttimeout())
    stack.callback(decimal.setcontext, decimal.getcontext().copy())
    stack.callback(gc.enable if gc.isenabled() else gc.disable)
    stack.callback(trace_again)
    stack.callback(speak_again)


def _keep_logging(stack: ExitStack) -> None:
    """Give the script a logging module that nobody has set up, and put the test's back."""
    root, manager = logging.root, logging.root.manager
    loggers = [
        root,
        *(logger for logger in manager.loggerDict.values() if isinstance(logger, logging.Logger)),
    ]
    states = [
        (logger, logger.level, list(logger.handlers), logger.propagate, logger.disabled)
        for logger in loggers
    ]
    disabled = manager.disable

    def restore() -> None:
        manager.disable = disabled
        logging.captureWarnings(capture=False)
        for logger in list(manager.loggerDict.values()):
            if isinstance(logger, logging.Logger) and logger not in loggers:
                logger.handlers[:] = []  # which write to streams of the run
        for logger, level, handlers, propagate, is_disabled in states:
            logger.setLevel(level)
            logger.handlers[:] = handlers
            logger.propagate, logger.disabled = propagate, is_disabled

    stack.callback(restore)
    root.handlers[:] = []
    root.setLevel(logging.WARNING)
    manager.disable = 0


def _keep_signals(stack: ExitStack) -> None:
    """Keep the handlers of signals, Spark's own one for Ctrl-C among them, and the alarm."""
    if threading.current_thread() is not threading.main_thread():
        return
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    due, interval = signal.getitimer(signal.ITIMER_REAL)  # such as the time limit of the test
    started = time.monotonic()

    def restore() -> None:
        left = due - (time.monotonic() - started)
        signal.setitimer(signal.ITIMER_REAL, left if left > 0 else interval, interval)
        for number, handler in handlers.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)

    stack.callback(restore)


def _leave_loop(stack: ExitStack) -> None:
    # A test that is a coroutine runs in a loop, and `asyncio.run` of a script refuses to nest.
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None:
        stack.callback(asyncio._set_running_loop, asyncio._get_running_loop())
        asyncio._set_running_loop(None)


def _keep_modules(stack: ExitStack, project: Path, folder: Path, path: Sequence[str]) -> None:
    """Take the modules of a project out of sight, and forget those of the run's places."""
    before, search = dict(sys.modules), list(sys.path)
    importers = dict(sys.path_importer_cache)
    own = tuple(str(path_added) for path_added in (project, folder))
    installed = tuple(entry for entry in default_path() if entry)
    for name, module in before.items():
        file = str(getattr(module, "__file__", None) or "")
        is_ours = name.partition(".")[0] in ("tidemark", "awsglue", "awsgluedq", "watermarks")
        if file.startswith(own) and not file.startswith(installed) and not is_ours:
            del sys.modules[name]
    sys.path[:] = [*path, *default_path()]
    places = tuple(str(entry) for entry in (*path, folder)) + own[:1]

    def restore() -> None:
        sys.path[:] = search
        for name, module in list(sys.modules.items()):
            file = str(getattr(module, "__file__", None) or "")
            if name not in before and (file.startswith(places) and not file.startswith(installed)):
                del sys.modules[name]
        for name, module in before.items():
            if sys.modules.get(name) is not module:
                sys.modules[name] = module
        sys.path_importer_cache.clear()
        sys.path_importer_cache.update(importers)

    stack.callback(restore)


@contextmanager
def own_ends() -> Iterator[None]:
    """Call a script's ``atexit`` functions at the end of its run, threads joined."""
    registered: list[Callable[[], object]] = []
    threads = set(threading.enumerate())

    of_the_process = atexit.register

    def register(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
        if sys._getframe(1).f_globals.get("__name__") != "__main__":  # of a library, for its life
            return of_the_process(function, *args, **kwargs)
        registered.append(lambda: function(*args, **kwargs))
        return function

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atexit, "register", register)
        try:
            yield
        finally:
            deadline = time.monotonic() + THREAD_PATIENCE_S
            for thread in threading.enumerate():
                if thread not in threads and not thread.daemon:
                    thread.join(max(0.0, deadline - time.monotonic()))
            for call in reversed(registered):
                with contextlib.suppress(Exception):
                    call()


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show warnings as a Python process does, whatever the settings of the tests."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        (file or sys.stderr).write(text)

    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")
        for category in UNSEEN:
            warnings.filterwarnings("ignore", category=category, append=True)
        warnings.showwarning = show
        yield
