"""Compiles the modules of small zips once for all runs that are forked from one process.

Python keeps no bytecode for a zip: each run compiled the watermark library again. A home has a copy
of that zip, and a proof has thousands of homes: what is the same in two copies is kept once.
"""

import _imp
import contextlib
import os
import warnings
import zipimport
from collections.abc import Iterable
from pathlib import Path
from types import CodeType
from zipfile import ZipFile

MAX_BYTES, MAX_UNPACKED_BYTES = 1_000_000, 5_000_000  # a large one would keep the next run waiting

_pythons_own = zipimport._compile_source  # type: ignore[attr-defined]
_codes: dict[tuple[str, bytes], CodeType] = {}
_seen: set[tuple[str, int, int]] = set()


def compile_zips(paths: Iterable[str]) -> None:
    """Compile what is new in zips, for the processes that are forked from now on."""
    for path in paths:
        with contextlib.suppress(Exception):  # whoever imports from it gets the error
            _compile_zip(path)


def _compile_zip(path: str) -> None:
    if not path.endswith(".zip") or not Path(path).is_file():
        return
    state = Path(path).stat()
    version = (path, state.st_mtime_ns, state.st_size)
    if version in _seen or state.st_size > MAX_BYTES:
        return
    _seen.add(version)
    with ZipFile(path) as file, warnings.catch_warnings():
        if sum(entry.file_size for entry in file.infolist()) > MAX_UNPACKED_BYTES:
            return
        warnings.simplefilter("error")  # a run that gets a warning compiles by itself
        for name in file.namelist():
            key = (name, file.read(name) if name.endswith(".py") else b"")
            if key[1] and key not in _codes:
                with contextlib.suppress(SyntaxError, ValueError, Warning):
                    _codes[key] = _pythons_own(f"{path}/{name}", key[1])


def use_compiled_zips() -> None:
    """Let imports from zips take what is compiled already, if the source is the same."""

    def code_of(path: str, source: bytes) -> CodeType:
        name = path.rpartition(f".zip{os.sep}")[2]
        code: CodeType = _codes.get((name, source)) or _pythons_own(path, source)
        _imp._fix_co_filename(code, path)  # type: ignore[attr-defined]  # as for a file's bytecode
        return code

    zipimport._compile_source = code_of  # type: ignore[attr-defined]
