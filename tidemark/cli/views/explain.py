"""Shows what a job would read, or read in an earlier run, and why."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from tidemark.cli.terminal import moment_json
from tidemark.cli.views.listing import Listing, Sentence
from tidemark.cli.views.snapshots import snapshots_json
from tidemark.glue_job.readers.tables.explained_predicates import predicates_of
from tidemark.local_state.bookmarks.explain import (
    Explanation,
    explain_file,
    explain_source,
    explain_table,
    sources_of_next_run,
    sources_of_run,
)
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.messages import plural
from tidemark.operate.snapshot_reads import SnapshotRead

SHOWN_FILES = 20


def explain_job(home: Home, job: str, run_id: str | None, uri: str | None) -> list[Explanation]:
    """Return an explanation per source of files or rows, of a run or of the next one."""
    with Store(home.database) as store:
        if run_id:
            sources = sources_of_run(store, job, run_id)
        else:
            sources = sources_of_next_run(store, job, None)
    explanations = []
    with predicates_of(home) as predicate_of:
        for opened in sources:
            if not opened.is_of_files:
                explanations.append(explain_table(opened))
                continue
            predicate = predicate_of(S3Source.from_json(opened.source))
            if uri is None:
                explanations.append(explain_source(opened, home.existing_path, predicate))
            else:
                file = explain_file(opened, uri, home.existing_path, predicate)
                explanations.append(Explanation(opened, (file,)))
    return explanations


def explanation_json(
    job: str,
    run_id: str | None,
    explanations: Sequence[Explanation],
    snapshots: Sequence[SnapshotRead] = (),
    watermark: str = "",
) -> dict[str, Any]:
    """Return the explanations as plain JSON values: every file with its reason."""
    return {
        "job": job,
        "run_id": run_id,
        "watermark": watermark or None,
        "sources": [_source_json(explanation) for explanation in explanations],
        "snapshots": snapshots_json(snapshots),
    }


def _source_json(explanation: Explanation) -> dict[str, Any]:
    read = explanation.read
    return {
        "transformation_ctx": explanation.opened.ctx,
        "source": dict(explanation.opened.source),
        "job_bookmark_option": explanation.opened.option,
        "opened_at": moment_json(explanation.opened.opened_at_ms),
        "files": len(read),
        "bytes": sum(file.size for file in read),
        "rows": explanation.rows or None,
        "listed": [
            {
                "file": file.path,
                "modified": moment_json(file.modified_ms),
                "bytes": file.size,
                "is_read": file.is_read,
                "reason": file.reason.value,
                "text": file.text,
            }
            for file in explanation.files
        ],
    }


def explanation_tables(
    job: str, run_id: str | None, explanations: Sequence[Explanation]
) -> Iterator[RenderableType]:
    """Yield what `tidemark explain` prints: per source a line and its files."""
    subject = f"run {run_id}" if run_id else "the next run"
    verb = "read" if run_id else "would read"
    for explanation in explanations:
        name = f"{job}, {subject}, source {explanation.opened.ctx or 'without transformation_ctx'}"
        if not explanation.opened.is_of_files:
            yield Sentence(Text(f"{name}: {verb} {explanation.rows}", style="bold"))
            continue
        read = explanation.read
        size = sum(file.size for file in read)
        count = f"{len(read):,} of {plural(len(explanation.files), 'file')}, {plural(size, 'byte')}"
        yield Sentence(Text(f"{name}: {verb} {count}", style="bold"))
        yield from _files(explanation, verb)
        if len(explanation.files) > SHOWN_FILES:
            more = len(explanation.files) - SHOWN_FILES
            yield Text(f"and {plural(more, 'more file')}; --format json lists all")


def _files(explanation: Explanation, verb: str) -> Iterator[RenderableType]:
    # What the paths begin with alike is said once, above the list.
    source: Mapping[str, Any] = explanation.opened.source
    paths = [str(path) for path in source["paths"]]
    yield from (Sentence(f"from {path}") for path in paths)
    newest_first = sorted(explanation.files, key=lambda file: (not file.is_read, -file.modified_ms))
    shown = newest_first[:SHOWN_FILES]
    folder = common_folder([file.path for file in shown])
    if folder and folder not in paths:
        yield Sentence(f"files below {folder}")
    if not shown:
        return
    rows = [
        (
            file.path.removeprefix(folder),
            Text("yes", style="green") if file.is_read else "no",
            f"{file.size:,}",
            file.text,
        )
        for file in shown
    ]
    yield Listing(("file", verb, "bytes", "why"), rows)


def common_folder(paths: Sequence[str]) -> str:
    """Return the folder that all files of a bucket are below, with its slash; empty without one."""
    parts = sorted(path.split("/")[:-1] for path in paths)
    if not parts:
        return ""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(parts[0], parts[-1], strict=False))
    names = [name for name, _ in alike]
    return "/".join(names) + "/" if len(names) > len(("s3:", "")) else ""
