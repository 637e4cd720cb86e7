"""The actions of a script as plain data: the rules judge nothing else."""

from dataclasses import dataclass, field

from tidemark.checks.script.operators import Operator
from tidemark.checks.script.place import Place


@dataclass(frozen=True)
class Opened:
    """One operator, at its place in the script."""

    operator: Operator
    same_ctx: tuple[int, ...] = ()  # lines of the operators that may have run with this ctx before
    is_after_init: bool = True  # on every way


@dataclass(frozen=True)
class Ask:
    """One call of getResolvedOptions; names is None if they are not known."""

    place: Place
    names: tuple[str, ...] | None


@dataclass
class Facts:
    """Everything that is known about one script; filled while it is read."""

    opened: list[Opened] = field(default_factory=list)
    spark_reads: list[Place] = field(default_factory=list)
    inits: list[Place] = field(default_factory=list)
    inits_without_args: list[Place] = field(default_factory=list)
    commits: list[Place] = field(default_factory=list)
    commits_before_init: list[Place] = field(default_factory=list)
    commits_in_finally: list[Place] = field(default_factory=list)
    commits_after_error: list[tuple[Place, Place]] = field(default_factory=list)  # handler, commit
    ends: list[Place] = field(default_factory=list)  # after a source, maybe without a commit
    asks: list[Ask] = field(default_factory=list)
    always_asked: set[str] = field(default_factory=set)
    mentioned: frozenset[str] = frozenset()  # names that stand as "--name" in the script
    unknown_keys: list[tuple[Place, str]] = field(default_factory=list)
    is_entry: bool = False  # it creates the GlueContext or the Job itself
    has_hidden_job: bool = False  # init or commit happen, or may happen, out of sight
    has_hidden_source: bool = False
    reads_argv_itself: bool = False
