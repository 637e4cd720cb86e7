"""`tidemark explain`: what the next run of a job would read, here and on AWS."""

from itertools import chain

from tidemark.cli.bookmark import run_of
from tidemark.cli.progress import print_output
from tidemark.cli.target import open_target
from tidemark.cli.views.coming_columns import coming_changes, refused_before
from tidemark.cli.views.deployed_input import deployed_input, input_json, input_lines
from tidemark.cli.views.explain import explain_job, explanation_json, explanation_tables
from tidemark.cli.views.listing import Sentence
from tidemark.cli.views.snapshots import snapshot_lines
from tidemark.cli.views.status import read_watermarks
from tidemark.cli.where import Where
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.bookmarks.files import with_one_scheme
from tidemark.local_state.home import Home
from tidemark.model.messages import known
from tidemark.operate.snapshot_reads import snapshot_reads
from tidemark.operate.statuses import statuses_of


def explain(job: str, uri: str | None, run: str | None, where: Where, output: str) -> None:
    if where.stage is not None:
        if run is not None:
            raise UsageError(
                "AWS does not report what a run has read from S3: leave out --run; `tidemark run "
                f"show {run}{where.option}` shows what the run has recorded in its watermark table"
            )
        _explain_deployed(job, uri, where, output)
        return
    with open_target(where) as target:
        known("job", job, target.known_jobs)
        run_id = run_of(target, job, run) if run else None
        statuses = [] if run_id or uri else statuses_of(target, [job], [])
        watermark = read_watermarks(target, statuses).get(job, "")
        snapshots = snapshot_reads(target, job) if watermark else []
    try:
        explanations = explain_job(Home.from_environment(), job, run_id, uri)
    except EntityNotFoundError:
        if not watermark:
            raise
        explanations = []
    home, is_next = Home.from_environment(), not (run_id or uri)
    coming = coming_changes(home, job, explanations, where) if is_next else []
    refused = refused_before(home, job, where) if is_next else ""
    parts = chain(
        explanation_tables(job, run_id, explanations),
        [Sentence(f"the next run would see other columns: {text}") for text in coming],
        [Sentence(refused)] if refused else [],
        [Sentence(f"watermark of {job}: {watermark}")] if watermark else [],
        snapshot_lines(job, snapshots),
    )
    document = explanation_json(job, run_id, explanations, snapshots, watermark)
    columns = {"column_changes": coming, "refused": refused or None}
    print_output(output, {**document, **columns}, parts)


def _explain_deployed(job: str, uri: str | None, where: Where, output: str) -> None:
    with open_target(where) as target:
        answer = deployed_input(target, job, uri and with_one_scheme(uri))
    print_output(output, input_json(answer), input_lines(answer))
