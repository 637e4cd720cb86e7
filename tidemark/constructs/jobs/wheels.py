"""Refuses wheels that the Python of a job cannot install, by the tags in their names.

Sources: https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/,
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-python-libraries.html (Linux, glibc)
"""

from collections.abc import Iterator, Sequence
from functools import cache

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from tidemark.errors import JobDefinitionError

GLIBC_2 = 34  # the minor version in Amazon Linux 2023
PLATFORMS = (
    *(f"manylinux_2_{minor}_x86_64" for minor in range(GLIBC_2, 4, -1)),
    *(f"{name}_x86_64" for name in ("manylinux2014", "manylinux2010", "manylinux1", "linux")),
)


def check_wheels(job: str, python: tuple[int, int], files: Sequence[str]) -> None:
    """Raise unless the Python of a job takes its wheels.

    Args:
        job: its name.
        python: major and minor version of its Python.
        files: its packages and files of the Python path; a name without tags is not judged.

    Raises:
        JobDefinitionError: a wheel is for another Python or platform.
    """
    for name in (file.rpartition("/")[2] for file in files if file.endswith(".whl")):
        try:
            tags = parse_wheel_filename(name)[3]
        except InvalidWheelFilename:
            continue
        if tags.isdisjoint(_supported(python)):
            raise JobDefinitionError(
                f"job '{job}' has the wheel {name!r}, which is for "
                f"{', '.join(sorted(map(str, tags)))}; allowed: wheels for Python "
                f"{python[0]}.{python[1]} on Linux x86_64 with glibc 2.{GLIBC_2}, or of pure "
                "Python; build or download one for it (pip download --python-version)"
            )


@cache
def _supported(python: tuple[int, int]) -> frozenset[Tag]:
    """Return the tags of wheels that a version of CPython takes on the machines of Glue."""
    return frozenset(_tags(python))


def _tags(python: tuple[int, int]) -> Iterator[Tag]:
    yield from cpython_tags(python, platforms=PLATFORMS)
    yield from compatible_tags(python, f"cp{python[0]}{python[1]}", PLATFORMS)
