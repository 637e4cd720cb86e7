"""The graph of a pipeline in the language of Graphviz; pure.

Source: https://graphviz.org/doc/info/lang.html
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from tidemark.operate.app_jobs import PipelineJob
from tidemark.report.commits import PipelineRun
from tidemark.report.freshness import Freshness
from tidemark.report.words import NEVER, age, kind_of, with_sign

MAX_JOBS = 60  # of a picture
MAX_WITH_DATASETS = 40
MAX_LETTERS = 36  # of a name in a box
HEAD = """digraph pipeline {
rankdir=LR; bgcolor=transparent; nodesep=0.18; ranksep=0.38; pad=0.05
node [shape=box, style=rounded, fontname=Arial, fontsize=9.5, margin="0.16,0.08", height=0.32]
edge [arrowsize=0.5]
"""


def quoted(text: str) -> str:
    """Return a string of the language; Graphviz decodes entities of HTML in it."""
    plain = text.replace("\\", "\\\\").replace("&", "&amp;").replace('"', "&quot;")
    return f'"{" ".join(plain.split())}"'


def _tooltip(text: str) -> str:
    # Graphviz reads a backslash of a tooltip twice.
    return f"tooltip={quoted(text.replace(chr(92), chr(92) * 2))}"


def jobs_of_picture(
    jobs: Sequence[PipelineJob], last: Mapping[str, PipelineRun], holders: Collection[str]
) -> list[PipelineJob]:
    """Return the jobs that a picture has room for.

    Where they are too many, those that did not succeed or hold a dataset back come first, then
    those beside them, then the others.
    """
    if len(jobs) <= MAX_JOBS:
        return list(jobs)
    first = {
        job.name
        for job in jobs
        if job.name in holders or (job.name in last and kind_of(last[job.name].state) != "ok")
    }
    before = {name for job in jobs if job.name in first for name in job.after}
    behind = {job.name for job in jobs if first.intersection(job.after)}
    order = sorted(jobs, key=lambda job: (job.name not in first, job.name not in before | behind))
    chosen = {job.name for job in order[:MAX_JOBS]}
    return [job for job in jobs if job.name in chosen]


def graph_of(
    jobs: Sequence[PipelineJob],
    last: Mapping[str, PipelineRun],
    fresh: Sequence[Freshness],
    anchors: Mapping[str, str],
    now_ms: int,
) -> str:
    """Return the graph of some jobs: from their inputs through them to their outputs."""
    lines = [
        _job(number, job, last.get(job.name), anchors, now_ms) for number, job in enumerate(jobs)
    ]
    has_datasets = len(jobs) <= MAX_WITH_DATASETS and any(job.reads or job.writes for job in jobs)
    lines += _datasets(jobs, fresh, now_ms) if has_datasets else _edges(jobs)
    return HEAD + "\n".join(lines) + "\n}\n"


def _job(
    number: int, job: PipelineJob, run: PipelineRun | None, anchors: Mapping[str, str], now_ms: int
) -> str:
    state = run.state if run else NEVER
    when = f"{age(now_ms - run.started_at_ms)} ago" if run else ""
    label = "\\n".join(map(_inner, filter(None, (_short(job.name), with_sign(state), when))))
    link = f', URL="#{anchors[job.name]}"' if job.name in anchors else ""
    return (
        f'j{number} [label="{label}", class="job {kind_of(state)}", '
        f"{_tooltip(f'{job.name}: {state} {when}')}{link}]"
    )


def _datasets(
    jobs: Sequence[PipelineJob], fresh: Sequence[Freshness], now_ms: int
) -> Iterator[str]:
    known = {dataset.dataset: dataset for dataset in fresh}
    uris = list(dict.fromkeys(uri for job in jobs for uri in (*job.reads, *job.writes)))
    numbers = {uri: number for number, uri in enumerate(uris)}
    tables = {uri: table for job in jobs for uri, table in job.tables.items()}
    for uri, number in numbers.items():
        label, kind = _inner(_short(tables.get(uri) or place_of(uri))), "data"
        if it := known.get(uri):
            state = "not complete" if it.as_of_ms is None else f"{age(now_ms - it.as_of_ms)} old"
            label, kind = f"{label}\\n{state}", "data published"
        yield (
            f'd{number} [label="{label}", class="{kind}", shape=note, style="", {_tooltip(uri)}]'
        )
    for number, job in enumerate(jobs):
        yield from (f"d{numbers[uri]} -> j{number}" for uri in job.reads if uri not in job.writes)
        yield from (
            f"j{number} -> d{numbers[uri]}" + (" [dir=both]" if uri in job.reads else "")
            for uri in job.writes
        )
    yield from _edges([job for job in jobs if not job.reads and not job.writes], jobs)


def _edges(
    jobs: Sequence[PipelineJob], among: Sequence[PipelineJob] | None = None
) -> Iterator[str]:
    numbers = {job.name: number for number, job in enumerate(among or jobs)}
    for job in jobs:
        yield from (
            f"j{numbers[name]} -> j{numbers[job.name]}" for name in job.after if name in numbers
        )


def place_of(uri: str) -> str:
    """Return an URI of S3 without its bucket, which is in the address; others unchanged."""
    scheme, _, rest = uri.partition("://")
    bucket, _, key = rest.partition("/")
    if not scheme.startswith("s3") or not key:
        return uri
    return f"{bucket.rpartition('-')[2]}/{key}".rstrip("/")


def _short(name: str) -> str:
    return name if len(name) <= MAX_LETTERS else f"{name[: MAX_LETTERS - 1]}…"


def _inner(text: str) -> str:
    return quoted(text)[1:-1]
