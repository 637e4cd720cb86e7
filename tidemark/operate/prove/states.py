"""The states that crashes leave: each is tried once, whatever run has led to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.local_state.home import Home
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.contents import Contents
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.homes import carried_out, linked_home, unannounced
from tidemark.operate.prove.identity import Equality, identity, learned

MAX_DEATHS = 4  # in a row


@dataclass
class States:
    """The states of homes that are known.

    Attributes:
        contents: reads them.
        equality: which differences between them count.
        known: those from which a run was tried, or is to be; a late file makes them others.
        deaths: how many runs in a row have died before the last one was right.
    """

    contents: Contents
    equality: Equality
    known: set[tuple[str, bool]] = field(default_factory=set)
    deaths: int = 1

    @classmethod
    def between(cls, since: float, run: Baseline, other: Home) -> "States":
        """Return what tells states apart, from what a run has left, and one that is equal."""
        contents = Contents(run.base, run.sources)
        left = contents.of(run.outcome.home), contents.of(other)
        return cls(contents, learned(since, *left))

    def of(self, home: Home) -> str:
        """Return the identity of the state of a home."""
        return identity(self.contents.of(home), self.equality)

    def along(self, bench: Bench, run: Baseline, name: str) -> tuple[dict[int, str], list[str]]:
        """Return the states that crashes in a run leave, by the numbers of its operations.

        Return, too, the objects that were changed otherwise, which makes the states unknown.
        """
        home = linked_home(run.base, bench.folder(name))
        self.known.add((self.of(home), False))  # nothing has happened yet: it is the run itself
        recorded = run.outcome.home
        done = carried_out(home, recorded, run.operations)
        states = {operation.number: self.of(home) for operation in done}
        return states, unannounced(home, recorded)

    def new(self, crashes: Sequence[Experiment], states: Mapping[int, str]) -> list[Experiment]:
        """Return one crash for each state that is not known, the most telling one; know it now."""
        chosen = []
        for crash in crashes:
            state = states[crash.after], crash.is_late and crash.deaths == 1
            if state not in self.known:
                self.known.add(state)
                chosen.append(crash)
        return chosen
