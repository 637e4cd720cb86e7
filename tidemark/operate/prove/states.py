"""The states that crashes leave: each is tried once, whatever run has led to it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.local_state.home import Home
from tidemark.local_state.operations import REQUEST, Operation, tables_changed
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.contents import STAGING, UNCOMMITTED_PIECE, Contents
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.homes import carried_out, linked_home, unannounced
from tidemark.operate.prove.identity import Equality, Piece, identity, learned, likeness, rendered
from tidemark.operate.prove.pointers import SAME, RunFolders, forgotten, run_folders
from tidemark.operate.prove.views import Views
from tidemark.operate.versions.targets import files_of

MAX_DEATHS = 4  # in a row


@dataclass(frozen=True)
class State:
    """What tells a state from others: its identity, and what it is but for chance.

    `view` tells the same of what a job of a workflow looks at; empty if it sees everything.
    """

    identity: str
    likeness: str
    view: str = ""


@dataclass
class States:
    """The states of homes that are known.

    Attributes:
        contents: reads them.
        equality: which differences between them count.
        views: what the jobs of a workflow look at; None of a job or a script alone.
        folders: how runs name those that they write.
        known: those from which a run was tried, or is to be; a late file makes them others.
        alike: the same, but for what differs by chance.
        repaired: what jobs of a workflow see of a state from which one run has led back to a run
            that went well: they do so wherever they see it.
        deaths: how many runs in a row have died before the last one was right.
    """

    contents: Contents
    equality: Equality
    views: Views | None = None
    folders: RunFolders = SAME
    known: set[tuple[str, bool]] = field(default_factory=set)
    alike: set[tuple[str, bool]] = field(default_factory=set)
    repaired: set[str] = field(default_factory=set)
    deaths: int = 1
    _starts: list[tuple[Home, str]] = field(default_factory=list)

    @classmethod
    def between(
        cls, contents: Contents, since: float, run: Baseline, other: Home, views: Views | None
    ) -> "States":
        """Return what tells states apart, from what a run has left, and one that is equal."""
        folders = run_folders(run.base, run.outcome.home, other)
        left = contents.of(run.outcome.home), contents.of(other)
        return cls(contents, learned(since, *left), views, folders)

    def of(self, home: Home, job: str = "") -> State:
        """Return what tells the state of a home from others, also for a job of a workflow."""
        pieces, out = self._pieces(home)
        all_rendered = rendered(pieces, self.equality)
        counting = all_rendered
        if out:
            counting = rendered([piece for piece in pieces if piece.name not in out], self.equality)
        like = likeness(counting, self.equality.noisy)
        return State(identity(all_rendered), like, self._seen_by(job, pieces, out))

    def learn(self, homes: Iterable[Home], repaired: Iterable[tuple[Home, str]]) -> None:
        """Learn what jobs look at in homes after runs, and which of them lead back.

        `repaired` are states from which one run of a job has led back to a run that went well.
        """
        if self.views is None:
            return
        for home in homes:
            self.views.note(home)
        self._starts += repaired
        # By all that is known now of what the jobs look at.
        self.repaired = {self._seen_by(job, *self._pieces(home)) for home, job in self._starts} - {
            ""
        }

    def _pieces(self, home: Home) -> tuple[list[Piece], set[str]]:
        """Return the pieces of a state, and the paths of those that no pointer names."""
        files = files_of(home.lake, with_hidden=True)
        pieces = self.contents.of(home)
        if self.views:
            # No later run looks into the staging folder of one that died, unless it lists.
            pieces = [piece for piece in pieces if not _is_staging(piece) or self._is_listed(piece)]
        return pieces, forgotten(home, files, self.folders)

    def _is_listed(self, piece: Piece) -> bool:
        return self.views is not None and self.views.is_listed(f"s3://{piece.text}")

    def _seen_by(self, job: str, pieces: Sequence[Piece], out: Collection[str]) -> str:
        view = self.views.of_job(job) if self.views else None
        if view is None:
            return ""
        seen = [piece for piece in view.seen(pieces) if piece.name not in out]
        return f"{job} {likeness(rendered(seen, self.equality), self.equality.noisy)}"

    def along(
        self, bench: Bench, run: Baseline, name: str, numbers: Collection[int] | None = None
    ) -> tuple[dict[int, State], list[str]]:
        """Return the states that crashes in a run leave, by the numbers of its operations.

        `numbers` are those that are asked for, in a run that repairs; None: all. That before the
        first one has the number 0. Return, too, the objects that were changed otherwise, which
        makes the states unknown.
        """
        home = linked_home(run.base, bench.folder(name))
        recorded, states = run.outcome.home, {0: self.of(home)}
        self._is_new(states[0])  # nothing has happened yet: it is the run itself
        for operation in carried_out(home, recorded, run.operations):
            bench.observe_run()
            if numbers is None:
                states[operation.number] = self.of(home)
            elif operation.number in numbers:
                states[operation.number] = self.of(home, run.jobs.get(operation.run_id, ""))
        return states, unannounced(home, recorded)

    def new(self, crashes: Sequence[Experiment], states: Mapping[int, State]) -> list[Experiment]:
        """Return one crash for each state that is not known, the most telling one; know it now.

        Two deaths in a row are tried in states that differ by more than chance, if the job that
        dies is not known to repair what it sees.
        """
        chosen = []
        for crash in crashes:
            is_first = crash.deaths == 1
            is_new = self._is_new(
                states[crash.after], is_late=crash.is_late and is_first, by_chance=is_first
            )
            if is_new or (is_first and is_unseen(crash.operation)):
                chosen.append(crash)
        return chosen

    def _is_new(self, state: State, *, is_late: bool = False, by_chance: bool = True) -> bool:
        """Return whether a state is not known; know it now."""
        exact, like = (state.identity, is_late), (state.likeness, is_late)
        is_new = exact not in self.known if by_chance else like not in self.alike
        if not by_chance and state.view in self.repaired:
            return False
        self.known.add(exact)
        self.alike.add(like)
        return is_new


def _is_staging(piece: Piece) -> bool:
    return piece.name == UNCOMMITTED_PIECE and piece.text.endswith(STAGING)


def is_unseen(operation: Operation | None) -> bool:
    """Return whether an operation changes what no identity may tell: by a request to a service.

    Items of DynamoDB are part of a state.
    """
    if operation is None or operation.kind != REQUEST:
        return False
    return not tables_changed(operation)
