"""What is compiled ahead for imports from zips."""

import importlib
import os
import sys
import zipimport
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

from tidemark.glue_job.process import compiled_zips
from tidemark.glue_job.process.compiled_zips import compile_zips, use_compiled_zips


@pytest.fixture
def zipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A zip on the path of Python, whose module `shipped` is imported anew."""
    monkeypatch.setattr(zipimport, "_compile_source", zipimport._compile_source)  # type: ignore[attr-defined]
    monkeypatch.setattr(compiled_zips, "_codes", {})
    monkeypatch.setattr(compiled_zips, "_seen", set())
    file = tmp_path / "libs.zip"
    monkeypatch.syspath_prepend(file)
    yield file
    sys.modules.pop("shipped", None)


def _write(file: Path, source: str) -> None:
    with ZipFile(file, "w") as archive:
        archive.writestr("shipped.py", source)


def _imported() -> ModuleType:
    importlib.invalidate_caches()
    return importlib.import_module("shipped")


def test_an_import_takes_the_code_that_was_compiled_ahead(zipped: Path) -> None:
    _write(zipped, "def answer():\n    return 42\n")
    compile_zips([str(zipped), os.fspath(zipped.parent), "/no/such.zip"])
    use_compiled_zips()
    module = _imported()
    (code,) = compiled_zips._codes.values()
    assert module.answer() == 42
    assert module.answer.__code__ in code.co_consts
    assert module.__file__ == f"{zipped}/shipped.py"


def test_copies_of_a_zip_are_compiled_once_and_each_names_its_own_file(
    zipped: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy" / "libs.zip"
    copy.parent.mkdir()
    for file in (copy, zipped):
        _write(file, "def answer():\n    return 42\n")
        compile_zips([str(file)])
    use_compiled_zips()
    module = _imported()
    (code,) = compiled_zips._codes.values()
    assert module.answer.__code__ in code.co_consts
    assert module.answer.__code__.co_filename == f"{zipped}/shipped.py"


def test_a_zip_that_changed_is_compiled_by_the_import(zipped: Path) -> None:
    _write(zipped, "def answer():\n    return 42\n")
    compile_zips([str(zipped)])
    use_compiled_zips()
    _write(zipped, "def answer():\n    return 43\n")
    assert _imported().answer() == 43


@pytest.mark.parametrize("source", ["def answer(:\n", "answer = '\\d'\n", "\0"])
def test_what_warns_or_fails_is_left_to_the_import(zipped: Path, source: str) -> None:
    _write(zipped, source)
    compile_zips([str(zipped)])
    assert compiled_zips._codes == {}


def test_a_file_that_is_no_zip_and_a_large_one_are_left_to_the_import(
    zipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zipped.write_bytes(b"no zip")
    compile_zips([str(zipped)])
    _write(zipped, "answer = 42\n")
    with monkeypatch.context() as patched:
        patched.setattr(compiled_zips, "MAX_BYTES", 10)
        compile_zips([str(zipped)])
    _write(zipped, "answer = 'a small zip of much text'\n")
    monkeypatch.setattr(compiled_zips, "MAX_UNPACKED_BYTES", 10)
    compile_zips([str(zipped)])
    assert compiled_zips._codes == {}
