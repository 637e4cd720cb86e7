"""Looks whether the Python modules that a job names are what jobs on this machine would import.

Glue installs them before each run; here what is missing is, once per set: see `module_folders`.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-python-libraries.html
"""

import re
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*(?:==\s*([\w.+!*-]+))?")
WHEEL = re.compile(r"(?:.*/)?([^/-]+)-([^/-]+)-[^/]+\.whl")


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def missing_modules(
    names: str, version_of: Callable[[str], str | None] = installed_version
) -> list[str]:
    """Return what is wrong with each module that a run would not find as it is named."""
    return [
        problem
        for word in (part.strip() for part in names.split(","))
        if word and (problem := _problem(word, version_of))
    ]


def _problem(word: str, version_of: Callable[[str], str | None]) -> str:
    found = WHEEL.fullmatch(word) or REQUIREMENT.fullmatch(word)
    if found is None:
        return f"{word} (write name==version)"
    name, wanted = found.groups()
    installed = version_of(name)
    if installed is None:
        return f"{word} (not installed)"
    return "" if wanted is None or _is_version(installed, wanted) else f"{word} (is {installed})"


def _is_version(installed: str, wanted: str) -> bool:
    """Compare as pip does: 1.0 is 1.0.0, and a local part counts only if it is asked for."""
    if "+" not in wanted:
        installed = installed.partition("+")[0]
    if wanted.endswith(".*"):
        return f"{_plain(installed)}.".startswith(f"{_plain(wanted.removesuffix('.*'))}.")
    return _plain(installed) == _plain(wanted)


def _plain(text: str) -> str:
    return re.sub(r"(\.0)+$", "", text.lower().removeprefix("v").replace("-", "."))
