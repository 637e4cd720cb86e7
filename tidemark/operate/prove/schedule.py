"""Carries experiments out, as many at once as there are threads, the most telling ones first."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from tidemark.operate.prove.baselines import Wanted
from tidemark.operate.prove.bench import Bench, Outcome
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.next_runs import NextRuns
from tidemark.operate.prove.trials import carry_out
from tidemark.operate.versions.trial import AT_ONCE

TELL_S = 10.0  # how often at least it is told how far it is
START_WITHIN = 0.75  # of the budget: what ends takes some time, and so does the comparison
Say = Callable[[str, int, int], None]
"""Gets what is running, how many experiments are done, and how many there are."""


@dataclass(frozen=True)
class Planned:
    """More experiments that were planned, or carried out, while others went on."""

    wanted: Sequence[Wanted] = ()
    done: Sequence[tuple[Wanted, Outcome]] = ()


@dataclass
class Queue:
    """Experiments that wait, those that are done, and those that are not tried.

    Attributes:
        bench: of the experiments.
        threads: carry them out.
        began: when the proof began, on the clock of `time.monotonic`.
        say: is told what is done.
        next_runs: those that have followed states.
    """

    bench: Bench
    threads: ThreadPoolExecutor
    began: float
    say: Say
    next_runs: NextRuns
    waiting: deque[Wanted] = field(default_factory=deque)
    done: list[tuple[Wanted, Outcome]] = field(default_factory=list)
    not_tried: list[Experiment] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def add(self, wanted: Sequence[Wanted], *, in_front: bool = False) -> None:
        """Let experiments wait, behind the others or in front of them."""
        self.not_tried += [want.experiment for want in wanted if want.experiment.not_tried]
        possible = [want for want in wanted if not want.experiment.not_tried]
        if in_front:
            self.waiting.extendleft(reversed(possible))
        else:
            self.waiting.extend(possible)

    def run(self, planning: Callable[[], Planned] | None = None) -> None:
        """Carry out what waits; and, in front of it, what is planned meanwhile."""
        plan: Future[Planned] | None = self.threads.submit(planning) if planning else None
        trying: dict[Future[Outcome], Wanted] = {}
        while True:
            free = AT_ONCE - len(trying) - (plan is not None)
            while free > 0 and self.waiting and not self._is_late():
                wanted = self.waiting.popleft()
                run = self.threads.submit(
                    carry_out, self.bench, wanted, self.next_runs, next(self.numbers)
                )
                trying[run] = wanted
                free -= 1
            if not trying and plan is None:
                break
            going: list[Future[Any]] = [*trying, *([plan] if plan else [])]
            ended = wait(going, TELL_S, return_when="FIRST_COMPLETED").done
            if plan and plan in ended:
                planned = plan.result()
                self.done += planned.done
                self.add(planned.wanted, in_front=True)
                plan = None
            self.done += [(trying.pop(run), run.result()) for run in ended if run in trying]
            self.say("trying", len(self.done), len(self.done) + len(trying) + len(self.waiting))
        # What was tried, and what was not.
        is_interrupted = self.bench.is_interrupted.is_set()
        reason = "interrupted" if is_interrupted else "the budget ended"
        self.not_tried += [
            replace(wanted.experiment, not_tried=reason, is_open=True) for wanted in self.waiting
        ]
        self.waiting.clear()
        self.not_tried += [done.experiment for _, done in self.done if done.experiment.not_tried]
        self.done = [(wanted, done) for wanted, done in self.done if not done.experiment.not_tried]

    def _is_late(self) -> bool:
        if self.bench.is_interrupted.is_set():
            return True
        deadline = self.bench.deadline
        if deadline is None:
            return False
        return time.monotonic() - self.began > START_WITHIN * (deadline - self.began)
