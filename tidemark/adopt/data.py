"""Decides the inputs and outputs of the adopted jobs, and the rules they break: pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tidemark.adopt.jobs.scripts import ScriptResources
from tidemark.adopt.model import AdoptedCrawler, AdoptedJob, Folder, Guess, Node, Reason
from tidemark.adopt.places import direction_of, is_address, places_of
from tidemark.adopt.reasons import ANY
from tidemark.checks.graph import model as graph
from tidemark.checks.graph.crawls import crawls
from tidemark.checks.graph.folders import overlap
from tidemark.checks.graph.races import races
from tidemark.model.assembly.definitions import CRAWLER

WORKFLOW = "adopted"


def with_data(
    jobs: Sequence[AdoptedJob], facts: Mapping[str, ScriptResources]
) -> tuple[list[AdoptedJob], list[Guess]]:
    """Return the jobs with their inputs and outputs, and the guesses among them.

    ``facts`` are those of the scripts, by the old names of the jobs.
    """

    def direction(job: AdoptedJob, name: str) -> str | None:
        return "out" if name in facts[job.old].written else direction_of(name)

    every = ((job, *address) for job in jobs for address in _addresses(job))
    written = {place for job, name, place in every if direction(job, name) == "out"}
    declared, guesses = [], []
    for job in jobs:
        of, script = f"job {job.old}", facts[job.old]
        reads = [("", place) for place in script.reads]
        writes: list[tuple[str, Folder]] = []
        for name, place in _addresses(job):
            way = direction(job, name)
            (writes if way == "out" else reads).append((name, place))
            if name in script.written:
                what = f"{place.uri} is its output: its script writes to the argument {name}"
                do = "see whether it reads there, too; then give it in reads= as well"
            else:
                what, do = _by_name(name, place, way, is_written=place in written)
            guesses.append(Guess(of, what, do))
        guesses += (
            Guess(of, f"the argument {name} is {text}, {why}", do)
            for given in (job.arguments, job.started_arguments)
            for name, text in given.items()
            if is_address(text) and name not in places_of(given)
            for why, do in [ANY["not known"] if "{" in text else ANY["no place"]]
        )
        outputs = {place for _, place in writes}
        inputs = [(name, place) for name, place in reads if place not in outputs]
        if not inputs and not writes:
            what = "neither an argument nor its script shows what data it uses"
            do = "declare it: reads=, writes=, tables=; until then its role allows none"
            guesses.append(Guess(of, what, do))
        declared.append(replace(job, reads=tuple(inputs), writes=tuple(writes)))
    return declared, guesses


def _by_name(name: str, place: Folder, direction: str | None, *, is_written: bool) -> Reason:
    """Return what the name of an argument lets one guess of its folder, and how to check it."""
    if direction == "out":
        what = f"{place.uri} is its output, by the name of the argument {name}"
        return what, "see that its script writes there; if it only reads, use reads="
    if direction == "in":
        what = f"{place.uri} is its input, by the name of the argument {name}"
        return what, "see that its script only reads there; if not, use writes="
    why = "another job writes it" if is_written else "reading harms nothing"
    what = f"{place.uri} (argument {name}) is taken for input, since {why}"
    return what, "see how its script uses it; if it writes, use writes="


def _addresses(job: AdoptedJob) -> list[tuple[str, Folder]]:
    """Return the arguments that are addresses, its own and those that its trigger adds."""
    own, added = places_of(job.arguments), places_of(job.started_arguments)
    every = dict.fromkeys((*own.items(), *added.items()))
    return [(name, place) for name, place in every if place != job.checkpoint]


def flags_of(jobs: Sequence[Node]) -> dict[Folder, tuple[bool, bool]]:
    """Return every place, and whether others than these jobs write it, and read it."""
    readers, writers = defaultdict(set), defaultdict(set)
    for job in jobs:
        for _, place in job.reads:
            readers[place].add(job.name)
        for _, place in job.writes:
            writers[place].add(job.name)
    places = dict.fromkeys(p for job in jobs for _, p in (*job.reads, *job.writes))
    return {
        place: (
            bool(readers[place]) and not _touching(place, writers, readers[place]),
            bool(writers[place]) and not _touching(place, readers, writers[place]),
        )
        for place in places
    }


def _touching(place: Folder, used: Mapping[Folder, set[str]], by: set[str]) -> bool:
    """Return whether a job other than these uses a place, a part of it, or a place around it."""
    return any(jobs - by for other, jobs in used.items() if overlap([place.uri], [other.uri]))


def broken_rules(jobs: Sequence[Node]) -> dict[str, dict[str, str]]:
    """Return the rules of the graph that the current jobs break: job to rule to finding."""
    broken: dict[str, dict[str, str]] = defaultdict(dict)
    whole = _graph(jobs)
    for problem in (*races(whole), *crawls(whole)):
        broken[problem.at].setdefault(problem.rule, problem.text)
    return dict(broken)


def _graph(jobs: Sequence[Node]) -> graph.Graph:
    name_of = {job.old: _name(job) for job in jobs}
    streaming = [job for job in jobs if isinstance(job, AdoptedJob) and job.is_streaming]
    first = tuple(_name(job) for job in jobs if job.wait is None and job not in streaming)
    triggers = [graph.Trigger("start", "start", "ON_DEMAND", WORKFLOW, first)]
    nodes = []
    for job in jobs:
        id_, name = f"to {job.name}", _name(job)
        if job.wait:
            ends = ((name_of[old], state) for old, state in job.wait.conditions)
            watched = tuple(graph.GraphCondition(*end) for end in ends)
            conditional = (id_, id_, graph.CONDITIONAL, WORKFLOW, (name,), job.wait.logical)
            triggers.append(graph.Trigger(*conditional, conditions=watched))
        reads = tuple(dict.fromkeys(place.uri for _, place in job.reads))
        if isinstance(job, AdoptedCrawler):
            nodes.append(graph.GraphJob(job.name, name, reads=reads, crawled=job.tables))
            continue
        nodes.append(
            graph.GraphJob(
                job.name,
                name,
                has_bookmark=job.bookmark == "ENABLE",
                max_concurrent_runs=int(str(job.options.get("max_concurrent_runs", 1))),
                reads=reads,
                writes=tuple(dict.fromkeys(place.uri for _, place in job.writes)),
                tables=job.tables,
                kept={"temp": job.temp.uri} if job.temp else {},
            )
        )
    return graph.Graph(
        jobs=tuple(node for node in nodes if not node.name.startswith(CRAWLER)),
        crawlers=tuple(node for node in nodes if node.name.startswith(CRAWLER)),
        triggers=tuple(triggers),
        workflows={WORKFLOW: WORKFLOW},
    )


def _name(node: Node) -> str:
    """Return its name where jobs and crawlers stand together."""
    return node.name if isinstance(node, AdoptedJob) else f"{CRAWLER}{node.name}"
