"""One finding of a rule of the linter."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from tidemark.checks.script.script_names import ScriptPlace
from tidemark.model.advice import advice_of

Severity = Literal["error", "warning", "note"]
RULES = advice_of("lint")


@dataclass(frozen=True)
class Finding:
    """One finding: an error loses data or fails the run, a warning alone does neither.

    A note fails nothing: it is about this machine, or about what only a run can judge.
    """

    rule: str
    severity: Severity
    place: ScriptPlace
    text: str
    file: str = ""
    job: str | None = None

    @property
    def remedy(self) -> str:
        """Return what to do about it."""
        return RULES[self.rule].remedy

    @property
    def id(self) -> str:
        """Return the id of its advice."""
        return RULES[self.rule].id

    def as_json(self) -> dict[str, Any]:
        """Return the finding as plain JSON values."""
        place = asdict(self.place)
        names = ("id", "rule", "severity", "file", "text", "remedy", "job")
        return {**{name: getattr(self, name) for name in names}, **place}


def error(rule: str, place: ScriptPlace, text: str) -> Finding:
    """Return a finding that loses data, or fails the run."""
    return Finding(rule, "error", place, text)


def warning(rule: str, place: ScriptPlace, text: str) -> Finding:
    """Return a finding that alone does no harm."""
    return Finding(rule, "warning", place, text)


def note(rule: str, place: ScriptPlace, text: str) -> Finding:
    """Return a finding that fails nothing."""
    return Finding(rule, "note", place, text)
