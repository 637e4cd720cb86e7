"""What the live pages show more than a report, as plain data."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tidemark.operate.executions import ExecutionOfMachine
from tidemark.operate.job_runs import Run

Asked: TypeAlias = Mapping[str, str]
"""What the query of a page asks for: `name`, and what a form of the page adds."""


@dataclass(frozen=True)
class Table:
    """Rows under headings; a cell with the id of a run becomes a link."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""


@dataclass(frozen=True)
class Section:
    """What commands say about a job or run: tables and sentences under a heading."""

    title: str
    parts: Sequence[Table | str]


@dataclass(frozen=True)
class Body:
    """The content of a page as HTML, and the `View.state` that it shows."""

    state: object
    text: str


@dataclass(frozen=True)
class Shown:
    """A run with the end of its log, and how long runs of its job usually take."""

    run: Run
    lines: Sequence[str]
    warnings: Sequence[str] = ()
    usual_s: float | None = None


@dataclass(frozen=True)
class Flow:
    """A workflow, and how many of its jobs there are and have a last run that SUCCEEDED.

    `has_failed` says whether there is something to resume.
    """

    name: str
    jobs: int
    done: int
    is_active: bool
    has_failed: bool


@dataclass(frozen=True)
class Live:
    """What a live page has more than a report.

    Attributes:
        base: begins the paths of pages.
        defined: the jobs that a button can run.
        active: the runs that have not ended, by id.
        workflows: those of the app.
        busy: the names of workflows and jobs that have an active run.
        executions: the last ones of each state machine, the last one first.
    """

    base: str
    defined: Collection[str] = ()
    active: Mapping[str, Shown] = field(default_factory=dict)
    workflows: Sequence[Flow] = ()
    busy: Collection[str] = ()
    executions: Mapping[str, Sequence[ExecutionOfMachine]] = field(default_factory=dict)
