"""The known causes for which a job that ran on Spark 3.5 fails on Spark 4, and their remedies.

Sources: https://spark.apache.org/docs/latest/sql-migration-guide.html,
https://spark.apache.org/docs/latest/sql-error-conditions.html,
https://docs.python.org/3/whatsnew/3.12.html and https://docs.python.org/3/whatsnew/3.13.html
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.model.advice import advice_on, catalogue

CAST_TO = re.compile(r'cannot be cast to "([^"]+)"')
PLACE = re.compile(r"\((?P<file>[^()]+), line (?P<line>\d+)\)")


@dataclass(frozen=True)
class Cause:
    """Why a job fails, and what to do.

    Attributes:
        title: the difference between the versions.
        remedy: the change of the script.
        setting: the argument of the job that brings the old behaviour back; empty if none does.
        place: the line of the script, such as ``orders.py:12``; empty if it is not known.
        id: that of the advice.
    """

    title: str
    remedy: str
    setting: str
    place: str
    id: str


# Settings with which Spark 4 does what 3.5 did, the one that explains most first.
OLD_SETTINGS: Sequence[str] = catalogue()["spark4"]["old_settings"]


def cause_of(error: str) -> Cause | None:
    """Return the known cause of an ErrorMessage, with the line of the script, or None."""
    advice, kind = advice_on("spark4", error), CAST_TO.search(error)
    if advice is None:
        return None
    remedy = advice.remedy.format(kind=kind[1] if kind else "INT")
    return Cause(advice.text, remedy, advice.setting, line_of(error), advice.id)


def line_of(error: str) -> str:
    """Return the place in the script that an error names; empty if it names none."""
    match = PLACE.search(error)
    return f"{match['file']}:{match['line']}" if match else ""
