"""The states that crashes leave: each is tried once, whatever run has led to it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.local_state.home import Home
from tidemark.local_state.operations import REQUEST, Operation, tables_changed
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.contents import Contents
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.homes import carried_out, linked_home, unannounced
from tidemark.operate.prove.identity import Equality, identity, learned, likeness, rendered
from tidemark.operate.prove.pointers import SAME, RunFolders, forgotten
from tidemark.operate.prove.views import View, jobs_of_operations, readers_of, views_of
from tidemark.operate.versions.targets import files_of

MAX_DEATHS = 4  # in a row


@dataclass(frozen=True)
class State:
    """What tells a state from others: its identity, and what it is but for chance.

    `view` is the same for the job of a workflow that died, of what that looks at; empty if it sees
    everything.
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
        workflow: a run of all jobs, if there are several.
        folders: how runs name those that they write.
        known: those from which a run was tried, or is to be; a late file makes them others.
        alike: the same, but for what differs by chance.
        repaired: what jobs of a workflow see of a state from which one run has led back to a run
            that went well: they do so wherever they see it.
        deaths: how many runs in a row have died before the last one was right.
    """

    contents: Contents
    equality: Equality
    workflow: Baseline | None = None
    folders: RunFolders = SAME
    known: set[tuple[str, bool]] = field(default_factory=set)
    alike: set[tuple[str, bool]] = field(default_factory=set)
    repaired: set[str] = field(default_factory=set)
    deaths: int = 1

    @classmethod
    def between(cls, since: float, run: Baseline, other: Home, folders: RunFolders) -> "States":
        """Return what tells states apart, from what a run has left, and one that is equal."""
        contents = Contents(run.base, run.sources, since)
        left = contents.of(run.outcome.home), contents.of(other)
        workflow = run if len(jobs_of_operations(run)) > 1 else None
        contents.readers = readers_of(run) if workflow else {}
        return cls(contents, learned(since, *left), workflow, folders)

    def of(self, home: Home, view: View | None = None) -> State:
        """Return what tells the state of a home from others, also for a job that has a view."""
        pieces = self.contents.of(home)
        out = forgotten(home, files_of(home.lake, with_hidden=True), self.folders)
        all_rendered = rendered(pieces, self.equality)
        counting = all_rendered
        if out:
            counting = rendered([piece for piece in pieces if piece.name not in out], self.equality)
        like = likeness(counting, self.equality.noisy)
        if view is None:
            return State(identity(all_rendered), like)
        seen = [piece for piece in view.seen(pieces) if piece.name not in out]
        like_seen = likeness(rendered(seen, self.equality), self.equality.noisy)
        return State(identity(all_rendered), like, f"{view.job} {like_seen}")

    def along(
        self, bench: Bench, run: Baseline, name: str, numbers: Collection[int] | None = None
    ) -> tuple[dict[int, State], list[str]]:
        """Return the states that crashes in a run leave, by the numbers of its operations.

        `numbers` are those that are asked for; None: all. That before the first one has the number
        0. Return, too, the objects that were changed otherwise, which makes the states unknown.
        """
        home = linked_home(run.base, bench.folder(name))
        views = views_of(run, self.workflow) if self.workflow else {}
        recorded, states = run.outcome.home, {0: self.of(home)}
        self._is_new(states[0])  # nothing has happened yet: it is the run itself
        for operation in carried_out(home, recorded, run.operations):
            bench.observe_run()
            if numbers is None or operation.number in numbers:
                view = views.get(run.jobs.get(operation.run_id, ""))
                states[operation.number] = self.of(home, view)
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
                states[crash.after],
                is_late=crash.is_late and is_first,
                by_chance=is_first,
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


def is_unseen(operation: Operation | None) -> bool:
    """Return whether an operation changes what no identity may tell: by a request to a service.

    Items of DynamoDB are part of a state.
    """
    if operation is None or operation.kind != REQUEST:
        return False
    return not tables_changed(operation)
