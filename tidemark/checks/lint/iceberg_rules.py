"""Judges what a job does with tables of Iceberg, by its script and its arguments.

Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-iceberg.html,
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-datalake-native-frameworks.html
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tidemark.checks.lint.findings import Finding, error, warning
from tidemark.checks.script.expressions import literal
from tidemark.checks.script.iceberg import CLASSES, SETTING, IcebergScript, iceberg_in
from tidemark.checks.script.script_names import ScriptPlace, identifier, names_of, place_of
from tidemark.model.assembly.iceberg import FORMAT, table_formats

EXTENSIONS = "spark.sql.extensions"


@dataclass(frozen=True)
class IcebergJob:
    """What the template says of a job.

    Attributes:
        arguments: those of a run, with their dashes.
        tables: the tables of Iceberg among its data, each as `database.table`.
    """

    arguments: Mapping[str, str]
    tables: frozenset[str] = field(default_factory=frozenset)

    @property
    def settings(self) -> dict[str, str]:
        """The settings of Spark in `--conf`."""
        pairs = self.arguments.get("--conf", "").split(" --conf ")
        return {name.strip(): value for name, _, value in (pair.partition("=") for pair in pairs)}


def iceberg_findings(text: str, job: IcebergJob, *, has_bookmarks: bool) -> Iterator[Finding]:
    """Yield what fails, or has no effect, in a job that uses Iceberg."""
    script = iceberg_in(text, job.arguments)
    has_settings = script.has_classes or any(CLASSES in value for value in job.settings.values())
    # Glue adds the jar of Iceberg for its format, and a job may bring its own.
    has_jar = FORMAT in table_formats(job.arguments) or "--extra-jars" in job.arguments
    if has_settings and not has_jar:
        text = "the job sets up Iceberg and has no --datalake-formats iceberg: its jar is missing"
        yield error("iceberg-no-format", ScriptPlace(1, 1), text)
    else:
        yield from _catalogs(script, job)
    for read in script.reads if has_bookmarks else ():
        if read.has_ctx and (not read.table or read.table in job.tables):
            what = f"the table {read.table} is one of Iceberg" if read.table else "this is Iceberg"
            text = f"{what}, for which AWS keeps no bookmark: every run reads all of it"
            yield warning("iceberg-bookmark", read.place, text)


def reads_of_iceberg(text: str, job: IcebergJob) -> frozenset[ScriptPlace]:
    """Return where Glue reads tables of Iceberg, which need no transformation_ctx."""
    reads = iceberg_in(text, job.arguments).reads if job.tables else ()
    return frozenset(read.place for read in reads if read.table in job.tables)


def _catalogs(script: IcebergScript, job: IcebergJob) -> Iterator[Finding]:
    """Yield catalogs that nothing declares, and new tables for which they have no place."""
    names = (name.removeprefix(SETTING) for name in job.settings if name.startswith(SETTING))
    declared = {name.partition(".")[0] for name in names}
    if script.catalogs is None:
        return
    for use in script.uses:
        has_warehouse = script.has_warehouse or f"{SETTING}{use.catalog}.warehouse" in job.settings
        if use.catalog not in declared | script.catalogs:
            where = "neither in --conf nor in the script"
            text = f"the catalog {use.catalog} is set {where}: the run fails"
            yield error("iceberg-no-catalog", use.place, text)
        elif use.is_unplaced and not has_warehouse:
            text = (
                f"the catalog {use.catalog} has no warehouse, and the table no LOCATION: unless "
                "its database has a LocationUri, Iceberg cannot derive a default warehouse location"
            )
            yield warning("iceberg-no-warehouse", use.place, text)


def extension_findings(tree: ast.Module) -> Iterator[Finding]:
    """Yield where a running session is to get extensions, which Spark refuses.

    Source: https://spark.apache.org/docs/latest/configuration.html#static-sql-configuration
    """
    constants = names_of(tree).constants
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="set", value=ast.Attribute(attr="conf", value=owner)),
                args=[name, *_],
            ) if identifier(owner) != "self" and literal(name, constants) == EXTENSIONS:
                text = f"{EXTENSIONS} is static: Spark refuses to set it once the session runs"
                yield error("extensions-too-late", place_of(node), text)
