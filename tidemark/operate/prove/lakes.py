"""The lake of the experiments: that of the home, a folder, or rows that are made for them."""

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.commands import App, deploy
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.local_state.dynamodb import dynamodb_endpoint, have_tables
from tidemark.local_state.home import Home
from tidemark.local_state.outside import withhold_others
from tidemark.local_state.watermark_tables import watermark_table
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.operate.versions.copies import copy_home
from tidemark.operate.versions.targets import SCRIPTS, files_of, target_of
from tidemark.operate.versions.trial import run_own_job

SAMPLE_JOB = Path(__file__).with_name("sample_job.py")
FORMATS = {"json": "json", "csv": "csv", "parquet": "parquet", "orc": "orc", "lines": "csv"}
DAY_S = 86_400
WATERMARKS = "glue-watermarks"


def home_of(home: Home, folder: Path, lake: Path | None, app: App | None = None) -> Home:
    """Return the base of the experiments: a copy of the home, or a new home with a lake.

    Sub-folders of a lake are buckets. The buckets, tables and files of an app are there before any
    run.
    """
    if lake is None:
        base = copy_home(home, folder)
    elif not lake.is_dir():
        raise UsageError(f"--lake {lake} is not a folder; name one whose sub-folders are buckets")
    elif files := [file.name for file in lake.iterdir() if file.is_file()]:
        raise UsageError(f"--lake {lake} has the file {files[0]}; allowed: folders, the buckets")
    else:
        base = Home.open(folder)
        shutil.copytree(lake, base.lake, dirs_exist_ok=True)
        with dynamodb_endpoint(base) as endpoint:
            have_tables(base, endpoint, [watermark_table(WATERMARKS)])
    if app is not None:
        deploy(app, base)
    withhold_others(base)
    return base


def fill_with_samples(base: Home, app: App | None, count: int, jvms: Jvms, version: str) -> None:
    """Replace the files of the base by rows that are made for the experiments.

    Tables that an app declares get rows where the lake has no files.
    """
    tables = app.deployment.catalog_tables if app else ()
    for bucket in app.deployment.buckets if app else ():
        base.create_bucket(bucket)
    places = [*_like_files(base), *_declared(base, tables)]
    if not places:
        raise TidemarkError(
            "--sample needs files in the lake, or declared tables with columns: rows are made with "
            "their schema"
        )
    made = base.root / "samples"
    for number, place in enumerate(places):
        place["target"] = (made / str(number)).as_uri()
    maker = Home.open(base.root.with_name("home-of-samples"))
    asked, failure = {"rows": count, "places": places}, "no sample could be made"
    run_own_job(SAMPLE_JOB, asked, maker, jvms, failure, version=version)
    for number, place in enumerate(places):
        _put_in_place(made / str(number), base.lake / place["folder"], place["replaced"])


def _like_files(base: Home) -> Iterator[dict[str, Any]]:
    """Yield the places that have files, by folder and format."""
    files = files_of(base.lake)
    for target in sorted({target_of(path) for path in files}, key=lambda one: one.folder):
        own = target.within(base.lake, files)["files"]
        kind = FORMATS.get(target.format)
        if kind and not target.folder.startswith(SCRIPTS):
            like = [f"file://{file}" for file in own]
            yield {"folder": target.folder, "format": kind, "like": like, "replaced": own}


def _declared(base: Home, tables: Sequence[CatalogTable]) -> Iterator[dict[str, Any]]:
    """Yield the declared tables without files whose format Spark writes."""
    for table in tables:
        if table.is_jdbc or table.is_iceberg or table.is_view or table.partition_keys:
            continue
        folder = base.local_path(table.location)
        kind = FORMATS.get(table.classification)
        if kind and table.columns and not (folder.is_dir() and any(folder.iterdir())):
            place = folder.relative_to(base.lake).as_posix()
            yield {"folder": place, "format": kind, "columns": table.columns, "replaced": []}


def _put_in_place(made: Path, folder: Path, replaced: list[str]) -> None:
    """Move made files to a folder, a day apart, in the place of those that were there."""
    for file in replaced:
        Path(file).unlink()
    folder.mkdir(parents=True, exist_ok=True)
    parts = sorted(file for file in made.iterdir() if file.name.startswith("part-"))
    for number, part in enumerate(parts):
        kind = "".join(part.suffixes[-1:])
        target = folder / f"sample-{number}{kind}"
        part.replace(target)
        at = time.time() - DAY_S * (len(parts) - number)
        os.utime(target, (at, at))
