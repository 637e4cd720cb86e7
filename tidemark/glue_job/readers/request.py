"""A script's request to a reader: the arguments of AWS's library as one value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.errors import ArgumentTypeError, UnsupportedError, UsageError
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.model.assembly.intrinsics import ACCOUNT_ID

# Arguments that only affect how fast AWS reads; the rows are the same.
PARTITION_COUNTS = frozenset({"minPartitions", "targetPartitions"})


@dataclass(frozen=True)
class ReadRequest:
    """A read of a source by a connection type and its options."""

    connection_type: str
    connection_options: Mapping[str, Any]
    format: str | None
    format_options: Mapping[str, Any]
    transformation_ctx: str
    push_down_predicate: str

    @property
    def frame_name(self) -> str:
        """The name of the DynamicFrame."""
        return self.transformation_ctx


@dataclass(frozen=True)
class TableRequest:
    """A read of a table of the Data Catalog; its options win over properties of the table."""

    database: str
    table_name: str
    transformation_ctx: str
    push_down_predicate: str
    options: Mapping[str, Any]

    @property
    def frame_name(self) -> str:
        """The name of the DynamicFrame."""
        return self.table_name


def options_request(
    connection_type: str,
    connection_options: Mapping[str, Any] | None = None,
    format: str | None = None,
    format_options: Mapping[str, Any] | None = None,
    transformation_ctx: str = "",
    push_down_predicate: str = "",
    **kwargs: Any,
) -> ReadRequest:
    """Return the request in the arguments of ``from_options``."""
    options = {"connection": connection_options or {}, "format": format_options or {}}
    for name, given in options.items():
        if not isinstance(given, Mapping):
            raise ArgumentTypeError(f"{name}_options is {given!r}; it must be a dict")
    for argument in sorted(set(kwargs) - PARTITION_COUNTS):
        note(RunWarning.OPTION_IGNORED, f"the argument {argument} of a reader")
    return ReadRequest(
        connection_type,
        options["connection"],
        format,
        options["format"],
        transformation_ctx,
        push_down_predicate,
    )


def catalog_request(
    database: str | None = None,
    table_name: str | None = None,
    redshift_tmp_dir: str = "",
    transformation_ctx: str = "",
    push_down_predicate: str = "",
    additional_options: Mapping[str, Any] | None = None,
    catalog_id: str | None = None,
    **kwargs: Any,
) -> TableRequest:
    """Return the request in the arguments of ``from_catalog``."""
    check_account(catalog_id)
    names = table_names(database, table_name, kwargs)
    options = dict(additional_options or {})
    return TableRequest(*names, transformation_ctx, push_down_predicate, options)


def table_names(
    database: str | None, table: str | None, others: Mapping[str, Any]
) -> tuple[str, str]:
    """Return database and table; the first three errors have AWS's wording."""
    name_space = others.get("name_space")
    for argument in sorted(set(others) - {"name_space", *PARTITION_COUNTS}):
        note(RunWarning.OPTION_IGNORED, f"the argument {argument} of from_catalog")
    if database is not None and name_space is not None:
        raise UsageError("Parameter name_space and database are both specified, choose one.")
    if database is None and name_space is None:
        raise UsageError("Parameter name_space or database is missing.")
    if table is None:
        raise UsageError("Parameter table_name is missing.")
    return str(name_space if database is None else database), table


def check_account(catalog_id: str | None) -> None:
    """Raise UnsupportedError for the catalog of another account."""
    if catalog_id not in (None, "", ACCOUNT_ID):
        raise UnsupportedError(
            f"catalog_id {catalog_id!r} is another account; the local Data Catalog belongs to "
            f"{ACCOUNT_ID}"
        )
