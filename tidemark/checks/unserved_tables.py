"""Tables of the Data Catalog that scripts read and this machine does not serve, before a run."""

from collections.abc import Collection, Iterator

from tidemark.checks.script.script_names import given_to, identifier
from tidemark.checks.script.values import ScriptValues, parsed, with_arguments
from tidemark.checks.state.read_app import script_of
from tidemark.errors import UsageError
from tidemark.model.assembly.cloud_assembly import FileAsset
from tidemark.model.assembly.definitions import STREAMING, Deployment, JobDefinition
from tidemark.model.assembly.intrinsics import ACCOUNT_ID

OTHER_ACCOUNT = "job {job} reads the table {table} of account {account}, which is not here"
PROJECTED = (
    "job {job} reads the table {table} by the catalog, and only Athena knows its partitions, which "
    "are projected: Glue finds no rows"
)


def unserved_tables(deployment: Deployment, assets: Collection[FileAsset]) -> list[str]:
    """Return a sentence for each table that a script reads and a run here would stop at.

    Only certain tables are reported: names in the script or in the job's arguments.
    """
    projected = {table.full_name for table in deployment.catalog_tables if table.is_projected}
    unserved = []
    for job in deployment.jobs.values():
        try:
            text = script_of(job.name, job.script_location, assets) or ""
            is_read = "from_catalog" in text and job.command != STREAMING
            read = list(_tables_read(text, job)) if is_read else []
        except (UsageError, RecursionError):  # its run reports the problem of the script
            continue
        for table, account in read:
            if account not in ("", ACCOUNT_ID):
                unserved.append(OTHER_ACCOUNT.format(job=job.name, table=table, account=account))
            elif table in projected:
                unserved.append(PROJECTED.format(job=job.name, table=table))
    return list(dict.fromkeys(unserved))


def _tables_read(text: str, job: JobDefinition) -> Iterator[tuple[str, str]]:
    """Yield each table that a script reads by the catalog, with the account that it names."""
    script = ScriptValues(parsed(text, job.name))
    arguments = {**job.default_arguments, **job.non_overridable_arguments}
    for call, place in script.calls:
        name = identifier(call.func) or ""
        if not name.endswith("from_catalog") or name.startswith("write"):
            continue
        given = given_to(("database", "table_name"), call)
        for bound in script.bindings(place):
            values = {
                key: with_arguments(str(script.read(node, place, bound)), arguments)
                for key, node in given.items()
            }
            database = values.get("database", values.get("name_space", ""))
            account = values.get("catalog_id", "")
            yield f"{database}.{values.get('table_name', '')}", account if account.isdigit() else ""
