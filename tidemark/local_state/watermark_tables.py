"""Creates the watermark tables that jobs use and the app does not define."""

from tidemark.model.assembly.definitions import WATERMARK_TABLE, Deployment, TableDefinition


def watermark_table(name: str) -> TableDefinition:
    """Return the definition of a table of watermarks."""
    from watermarks import EXPIRES_AT, create_table_request  # few jobs have any

    return TableDefinition(name, create_table_request(name), EXPIRES_AT)


def imported_tables(deployment: Deployment) -> list[TableDefinition]:
    """Return the tables that jobs name and that another stack or tool makes on AWS.

    A job is given the name as `--watermark_table`, by `watermark=True` of the construct.
    """
    defined = {table.name for table in deployment.tables}
    named = {
        {**job.default_arguments, **job.non_overridable_arguments}.get(WATERMARK_TABLE)
        for job in deployment.jobs.values()
    }
    return [watermark_table(name) for name in sorted({n for n in named if n} - defined)]
