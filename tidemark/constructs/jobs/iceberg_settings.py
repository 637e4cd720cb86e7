"""Settings of Spark for the tables of Iceberg that a job declares, merged with the job's own.

Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-iceberg.html,
https://iceberg.apache.org/docs/latest/spark-configuration/
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.constructs.catalog.iceberg_table import IcebergTable
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.glue_arguments import GlueArguments, plain_text
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.glue_versions import version_of_run
from tidemark.model.assembly.iceberg import EXTENSIONS, FORMAT, ICEBERG_EXTENSIONS, iceberg_settings
from tidemark.model.plain_secrets import NotSecret

TABLE_FORMAT = "table-default.format-version"
# The first Glue whose Iceberg has format version 3.
# Source: https://aws.amazon.com/blogs/big-data/introducing-aws-glue-5-1-for-apache-spark
NEEDS_5_1, SINCE = 3, (5, 1)
# LOCATION 's3://…', before a value that is filled in, or the name of a property.
LOCATION = re.compile(r"\bLOCATION\s*(['\"{]|\Z)|\Alocation\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Placed:
    """A table of Iceberg, the address of its folder, and whether the job may create it."""

    table: IcebergTable
    uri: str
    is_created: bool


def with_iceberg(
    job: str,
    given: GlueArguments,
    reads: Sequence[Dataset],
    writes: Sequence[Dataset],
    script: Path,
    glue_version: str | None,
) -> GlueArguments:
    """Return the arguments of a job with what its tables of Iceberg need.

    Args:
        job: its name.
        given: its own arguments.
        reads: data that it reads.
        writes: data that it writes.
        script: its file.
        glue_version: its version of Glue; None without Spark, where there is nothing to set.

    Raises:
        JobDefinitionError: a setting contradicts the tables, the version of Glue does not know
            them, or the job would create one where it may not write.
    """
    placed = [*_placed(writes, is_written=True), *_placed(reads, is_written=False)]
    if not placed or glue_version is None:
        return given
    _check_versions(job, placed, glue_version)
    conf = dict(given.conf or {})
    extensions = plain_text(conf.get(EXTENSIONS, ICEBERG_EXTENSIONS))
    if ICEBERG_EXTENSIONS not in extensions.split(","):
        raise _contradiction(job, EXTENSIONS, extensions, f"{extensions},{ICEBERG_EXTENSIONS}")
    settings = {EXTENSIONS: extensions}
    for catalog in dict.fromkeys(data.table.catalog for data in placed):
        of_catalog = [data for data in placed if data.table.catalog == catalog]
        settings |= _catalog_settings(job, catalog, of_catalog, conf, _names_location(script))
    return replace(given, conf={**settings, **conf}, datalake_formats=_formats(job, given))


def _formats(job: str, given: GlueArguments) -> list[str] | None:
    """Return the table formats of a job: with Iceberg, unless it brings its own jar."""
    # See https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-iceberg.html
    formats = list(given.datalake_formats or ())
    own = [str(jar) for jar in given.extra_jars or () if FORMAT in str(jar).rpartition("/")[2]]
    if own and FORMAT in formats:
        raise JobDefinitionError(
            f"job '{job}' has datalake_formats {FORMAT!r} in its glue_arguments, and a jar of "
            f"Iceberg in extra_jars ({own[0]}); allowed: one of the two; leave one out"
        )
    return formats or None if own else [*formats, *({FORMAT} - set(formats))]


def _placed(datasets: Sequence[Dataset], *, is_written: bool) -> Iterator[Placed]:
    for data in datasets:
        if isinstance(data.table, IcebergTable):
            yield Placed(data.table, data.uri, is_written and data.table.create)


def _check_versions(job: str, placed: Sequence[Placed], glue_version: str) -> None:
    number = tuple(map(int, version_of_run(glue_version).split(".")))
    for data in placed:
        if data.table.format_version == NEEDS_5_1 and number < SINCE:
            raise JobDefinitionError(
                f"job '{job}' uses the Iceberg table '{data.table.full_name}' with format_version "
                f"{NEEDS_5_1} and has glue_version {glue_version}; allowed: 5.1 or newer; set "
                "glue_version in runtime=, or format_version 2"
            )
    known = {data.table.catalog: data.table for data in placed if data.is_created}
    for data in placed:
        other = known.get(data.table.catalog)
        if data.is_created and other and other.format_version != data.table.format_version:
            raise JobDefinitionError(
                f"job '{job}' creates '{other.full_name}' with format_version "
                f"{other.format_version} and '{data.table.full_name}' with "
                f"{data.table.format_version} in the catalog {data.table.catalog}, which has one "
                "default; give one of them another catalog="
            )


def _catalog_settings(
    job: str,
    catalog: str,
    placed: Sequence[Placed],
    conf: Mapping[str, str | NotSecret],
    names_location: bool,
) -> dict[str, str]:
    """Return the settings of one catalog, which the job's own neither lack nor contradict."""
    key = f"spark.sql.catalog.{catalog}"
    own = {name: plain_text(value) for name, value in conf.items()}
    warehouse = own.get(f"{key}.warehouse")
    wanted = iceberg_settings(catalog, _warehouse(job, placed, warehouse, names_location))
    del wanted[EXTENSIONS]  # of all catalogs
    if f"{key}.type" in own:  # Iceberg refuses both
        wanted |= {f"{key}.type": "glue"}
        del wanted[f"{key}.catalog-impl"]
    for name, value in wanted.items():
        if own.get(name, value) != value:
            raise _contradiction(job, name, own[name], value)
    created = {str(data.table.format_version or "") for data in placed if data.is_created} - {""}
    return wanted | {f"{key}.{TABLE_FORMAT}": version for version in created}


def _warehouse(job: str, placed: Sequence[Placed], own: str | None, names_location: bool) -> str:
    """Return a warehouse in which every table that a job may create lies in its own dataset."""
    candidates = [own] if own else list(dict.fromkeys(_candidates(placed)))
    created = [data for data in placed if data.is_created]
    for warehouse in candidates:
        if all(_fits(data, warehouse) for data in created):
            return warehouse
    if names_location:
        return candidates[0]
    wrong = next(data for data in reversed(created) if not _fits(data, candidates[0]))
    table, place = wrong.table, wrong.table.default_location(candidates[0])
    raise JobDefinitionError(
        f"job '{job}' may create the Iceberg table '{table.full_name}', which Iceberg would put at "
        f"{place}, and its dataset is {wrong.uri}: AWS denies writing there; allowed: a folder "
        f"<warehouse>/{table.database_name}.db/{table.name}/ for each table, a script that creates "
        "the table with LOCATION, or create=False if it exists; move the dataset, or name its "
        "location in the script"
    )


def _candidates(placed: Sequence[Placed]) -> Iterator[str]:
    for data in placed:
        end = f"{data.table.database_name}.db/{data.table.name}/"
        if data.uri.endswith(f"/{end}"):
            yield data.uri.removesuffix(end)
    yield from (data.uri for data in placed)


def _fits(data: Placed, warehouse: str) -> bool:
    return data.table.default_location(warehouse).startswith(data.uri)


def _names_location(script: Path) -> bool:
    """Return whether a script seems to name where its tables lie."""
    try:
        nodes = ast.walk(ast.parse(script.read_bytes()))
    except (SyntaxError, ValueError):
        return False
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return any(isinstance(text, str) and LOCATION.search(text) for text in constants)


def _contradiction(job: str, name: str, value: str, allowed: str) -> JobDefinitionError:
    return JobDefinitionError(
        f"job '{job}' has {name} {value!r} in conf of its glue_arguments, and a table of Iceberg "
        f"in its data; allowed: {allowed!r}; correct it, or leave it out"
    )
