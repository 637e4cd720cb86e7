"""What the next run of a job would see otherwise in its files, and what its contract refuses."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.cli.schema_versions import kept_of
from tidemark.cli.where import Where
from tidemark.glue_job.process.first_file import brought_by, columns_in, looked_into
from tidemark.local_state.bookmarks.explain import Explanation
from tidemark.local_state.home import Home
from tidemark.local_state.observed_schemas import LOOK_BACK, noted_contracts, schemas_of_job
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.checkpoints.schema_changes import Change, changes_of, of_key
from tidemark.model.checkpoints.schemas import READ, Schema, known_columns

# The mode of a contract that a change meets, its default, and what is refused.
_MODES = {
    "new": ("columns", "evolve", ("freeze",), "a new column"),
    "gone": ("missing", "null", ("freeze",), "a missing column"),
    "type": ("types", "evolve", ("evolve", "freeze"), "a value that does not fit"),
}
_REFUSED = re.compile(
    r"breaks its contract: (.*?)(?: \((?:first in|\d+ rows? do)|; nothing was)", re.DOTALL
)


def coming_changes(
    home: Home, job: str, explanations: Sequence[Explanation], where: Where
) -> list[str]:
    """Return what the next run would see otherwise in files of JSON and CSV, source by source."""
    with Store(home.database) as store:
        earlier = [run.schemas for run in schemas_of_job(store, job, LOOK_BACK)]
        last = last_run(store, job)
    contracts = noted_contracts(Path(last.log_path).parent) if last else []
    told = list[str]()
    for explanation in explanations:
        history = of_key(Schema(READ, "", explanation.opened.ctx), earlier)
        files = [str(home.existing_path(file.path)) for file in explanation.read]
        for change, place in _changes(files, history) if history else ():
            refused = refusal(change, contracts)
            if refused and change.kind == "new" and change.path in _kept_names(job, where):
                refused = ""
            if refused or not change.is_quiet:
                place = place.replace(f"{home.lake}/", "s3://")
                told.append(f"source {explanation.opened.ctx}: {change}{place}{refused}")
    return told


def _changes(files: Sequence[str], history: Sequence[Schema]) -> Iterator[tuple[Change, str]]:
    """Yield what files have otherwise than a source had, and in which of them; outermost only."""
    file_format, looked = history[0].format, list(looked_into(files, history[0].format))
    records = [record for _, some, _ in looked for record in some]
    had = {path: column.type for path, column in known_columns(history).items()}
    now = replace(history[0], columns=columns_in(records, file_format, had))
    if not any(column.path in had for column in now.columns):
        return  # such as lines without a header, or what is below a JSON path
    changes = [change for change in changes_of(now, history) if "." not in change.path]
    if len(looked) < len(files) or not all(whole for *_, whole in looked):
        changes = [change for change in changes if change.kind != "gone"]
    places = brought_by(changes, files, file_format)
    for change in changes:
        yield change, places.get(change, "")


def _kept_names(job: str, where: Where) -> set[str]:
    """Return the columns of targets that are kept beside the watermark, accepted ones too."""
    targets = [target for of in kept_of(job, where) for target in of["targets"].values()]
    return {name for target in targets for name in target["columns"]}


def refusal(change: Change, contracts: Sequence[Mapping[str, Any]]) -> str:
    """Return, to follow the text of a change, what of it a contract refuses; empty if none does."""
    mode, default, refusing, what = _MODES[change.kind]
    for contract in contracts:
        promised = re.findall(r"\w+", str(contract.get("schema") or "").lower())
        is_known = change.kind == "new" and change.path.lower() in promised
        # A number of another width may be one that the type becomes wide enough for.
        is_known |= change.is_quiet and contract.get(mode, default) == "evolve"
        if contract.get(mode, default) in refusing and not is_known:
            return f": the contract of the job refuses {what}"
    return ""


def last_run(store: Store, job: str) -> JobRun | None:
    """Return the run of a job that was started last."""
    return next(iter(store.job_runs_of_job(job)), None)


def refused_before(home: Home, job: str, where: Where) -> str:
    """Return what a contract has refused of the last run, and what the next one meets."""
    with Store(home.database) as store:
        last = last_run(store, job)
    told = _REFUSED.search(last.error_message or "") if last and last.state == "FAILED" else None
    if last is None or told is None:
        return ""
    begin, accept = f"a contract has refused the last run: {told[1]}", "`tidemark schema accept"
    if accept not in str(last.error_message):
        return f"{begin}; the next run meets the same"
    if any(of["refused"] for of in kept_of(job, where)):
        return f"{begin}; the next run meets the same, until somebody accepts it: {accept} {job}`"
    return f"{begin}; it is accepted, and the next run continues"
