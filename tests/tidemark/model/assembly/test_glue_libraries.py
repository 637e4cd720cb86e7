"""The libraries that AWS has in a version of Glue, and those that this project installs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tidemark.model.assembly.glue_versions import GLUE_VERSIONS, libraries_of, library_with
from tools.own_venv import with_pins

PROJECT = Path(__file__).parents[4]
LOCKS = {
    ("requirements/runtime.txt",): "5.1",
    ("requirements/dev.txt", "requirements/glue6.txt"): "6.0",
    ("tidemark/local_state/sparks/spark-4.1.1.txt",): "6.0",
}


@pytest.mark.parametrize(("locks", "glue_version"), LOCKS.items())
def test_jobs_run_with_the_pandas_pyarrow_and_numpy_of_their_version_of_glue(locks, glue_version):
    text = with_pins(*(PROJECT / lock for lock in locks))
    pinned = dict(re.findall(r"^(numpy|pandas|pyarrow)==([\w.]+) \\$", text, re.MULTILINE))

    libraries = libraries_of(glue_version)

    assert pinned == {name: libraries[name] for name in ("numpy", "pandas", "pyarrow")}


def test_every_version_of_glue_has_a_list():
    assert all("pandas" in libraries_of(name) for name in GLUE_VERSIONS)
    assert libraries_of("0.9") == {}


@pytest.mark.parametrize(
    ("module", "glue_version", "library"),
    [
        ("pyarrow", "5.1", ("pyarrow", "22.0.0")),
        ("PIL", "5.1", ("pillow", "12.0.0")),
        ("charset_normalizer", "5.0", ("charset-normalizer", "3.3.2")),
        ("typing_extensions", "6.0", ("typing_extensions", "4.15.0")),
        ("yaml", "6.0", ("PyYAML", "6.0.3")),
        ("yaml", "5.1", None),
        ("nowhere", "5.1", None),
    ],
)
def test_a_module_is_in_a_library_of_a_version(module, glue_version, library):
    assert library_with(module, glue_version) == library
