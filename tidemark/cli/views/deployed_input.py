"""Shows what an account tells of the input of a job's next run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType

from tidemark.cli.terminal import moment_json
from tidemark.cli.views.bookmarks import contexts_table
from tidemark.cli.views.listing import Sentence
from tidemark.cli.views.snapshots import snapshot_lines, snapshots_json
from tidemark.cli.views.status import read_watermarks
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.bookmarks.files import FileVersion, with_one_scheme
from tidemark.local_state.bookmarks.hidden import is_hidden
from tidemark.model.messages import plural
from tidemark.operate.app_jobs import jobs_of
from tidemark.operate.bookmark_states import BandPlace, ContextState, band_of, place_of, states_of
from tidemark.operate.snapshot_reads import SnapshotRead, snapshot_reads
from tidemark.operate.statuses import statuses_of
from tidemark.operate.target import Target

NOTHING_READ = (-1, -1)
NOT_REPORTED = (
    "AWS does not report which source reads which folder, what its exclusions, predicates and "
    "bounds leave out, nor the names of the objects of the band that were read."
)


@dataclass(frozen=True)
class DeployedInput:
    """What an account tells.

    Attributes:
        job: the job.
        states: of its bookmark, by transformation_ctx; None if bookmarks are not enabled for it.
        watermark: its watermarks as a string; empty without.
        objects: by declared source of S3 with a bookmark, each with its place.
        snapshots: what is read of tables of Iceberg, from snapshot to snapshot.
        unknown: why its bookmark is not known; empty if it is, or not enabled.
    """

    job: str
    states: Mapping[str, ContextState] | None
    watermark: str
    objects: Mapping[str, Sequence[tuple[FileVersion, BandPlace]]]
    snapshots: Sequence[SnapshotRead] = ()
    unknown: str = ""


def deployed_input(target: Target, name: str, uri: str | None) -> DeployedInput:
    """Return what is known of the input of a job; of one object only, if a URI is given."""
    job = target.job(name)
    (status,) = statuses_of(target, [job], [])
    watermark = read_watermarks(target, [status]).get(job, "")
    if not status.has_bookmark and not watermark:
        raise EntityNotFoundError(
            f"job {job} keeps neither a bookmark nor a watermark in {target.where}: its script "
            "alone says what the next run reads"
        )
    snapshots = snapshot_reads(target, job) if watermark and not uri else []
    if not status.has_bookmark or status.unknown:
        unknown = status.unknown if status.has_bookmark else ""
        return DeployedInput(job, None, watermark, {}, snapshots, unknown)
    states = states_of(target.bookmark_entry(job) or {})
    if snapshots and not states:  # its bookmark is enabled for its windows
        return DeployedInput(job, None, watermark, {}, snapshots)
    band = band_of(states.values()) if states else NOTHING_READ
    folders = _folders(target, job)
    if uri and not any(map(uri.startswith, folders)):
        raise UsageError(
            f"no source of S3 that the app declares for {job} has {uri}; declared are "
            f"{', '.join(folders) or 'none'}"
        )
    objects = {
        folder: [(file, place_of(file.modified_ms, band)) for file in _objects(target, folder, uri)]
        for folder in folders
        if band and (uri or folder).startswith(folder)
    }
    return DeployedInput(job, states, watermark, objects, snapshots)


def _folders(target: Target, name: str) -> list[str]:
    reads = next((job.reads for job in jobs_of(target) if job.name == name), ())
    return [f"{with_one_scheme(uri).rstrip('/')}/" for uri in reads if uri.startswith("s3")]


def _objects(target: Target, folder: str, uri: str | None) -> Iterator[FileVersion]:
    """Yield the objects below a folder that readers do not hide; of one URI alone, if given."""
    bucket, _, prefix = (uri or folder).removeprefix("s3://").partition("/")
    pages = target.glue.client("s3").get_paginator("list_objects_v2")
    for page in pages.paginate(Bucket=bucket, Prefix=prefix):
        for item in page.get("Contents", ()):
            path = f"s3://{bucket}/{item['Key']}"
            names = path.removeprefix(folder).split("/")
            if uri in (None, path) and names[-1] and not any(map(is_hidden, names)):
                modified_ms = round(item["LastModified"].timestamp() * 1000)
                yield FileVersion(path, modified_ms, item["Size"])


def input_json(answer: DeployedInput) -> dict[str, Any]:
    """Return it as plain JSON values: every object with its place."""
    sources = [
        {
            "uri": uri,
            "listed": [
                {
                    "file": file.path,
                    "modified": moment_json(file.modified_ms),
                    "bytes": file.size,
                    "place": place.value,
                }
                for file, place in objects
            ],
        }
        for uri, objects in answer.objects.items()
    ]
    return {
        "job": answer.job,
        "contexts": answer.states,
        "watermark": answer.watermark or None,
        "sources": sources,
        "snapshots": snapshots_json(answer.snapshots),
        "untold": answer.unknown or NOT_REPORTED,
    }


def input_lines(answer: DeployedInput) -> Iterator[RenderableType]:
    """Yield what `tidemark explain --deployed` prints."""
    if answer.states:
        yield contexts_table(answer.states)
    elif answer.states is not None:
        yield Sentence(f"{answer.job} has no bookmark, or it was reset")
    elif answer.unknown:
        yield Sentence(answer.unknown)
    if answer.watermark:
        yield Sentence(f"watermark of {answer.job}: {answer.watermark}")
    yield from snapshot_lines(answer.job, answer.snapshots)
    for uri, objects in answer.objects.items():
        counts = [
            f"{len(sizes):,} {place.value} ({plural(sum(sizes), 'byte')})"
            for place in BandPlace
            if (sizes := [file.size for file, where in objects if where is place])
        ]
        yield Sentence(f"{uri}: {', '.join(counts) or 'no object'}")
    if answer.objects:
        yield Sentence("By these marks the next run reads newer objects, and no older ones.")
    yield Sentence(NOT_REPORTED)
