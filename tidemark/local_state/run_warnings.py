"""Warnings of a job run that users of Glue learn the hard way: noted as it runs, shown at its end.

A job process appends to the file `WARNINGS_FILE` in the folder of its run, and stores the warning
with the run: neither its own death nor that of `tidemark` loses it.
"""

import json
import os
import re
from contextlib import suppress
from enum import Enum
from pathlib import Path

from tidemark.local_state.home import RUN_ID_VARIABLE, Home
from tidemark.local_state.machine.own_files import append_line
from tidemark.local_state.store.database import Store
from tidemark.local_state.store.stored_warnings import keep_warnings
from tidemark.model.advice import advice_of

WARNINGS_FILE = "warnings.jsonl"
RUN_FOLDER_VARIABLE = "TIDEMARK_RUN_FOLDER"
# Set in a run of a job that a template or a client of Glue defined, not of a submitted script.
DECLARED_VARIABLE = "TIDEMARK_DECLARED_JOB"
ID = re.compile(r" \((TM2\d\d)\)$")


class RunWarning(Enum):
    """The kind of a warning, whose message with ``{}`` for its subject the catalogue has."""

    INIT_MISSING = "init-missing"
    COMMIT_MISSING = "commit-missing"
    COMMIT_IN_FINALLY = "commit-in-finally"
    CTX_MISSING = "ctx-missing"
    CONCURRENT_RUNS = "concurrent-runs"
    DATAFRAME_READER = "dataframe-reader"
    NO_BOOKMARK = "no-bookmark"
    LEFT_OUT_BEFORE = "left-out-before"
    FUTURE_FILES = "future-files"
    CTX_RENAMED = "ctx-renamed"
    INIT_LATE = "init-late"
    MARK_AHEAD = "mark-ahead"
    COMMIT_BEFORE_SOURCE = "commit-before-source"
    OLD_FILES = "old-files"
    HIDDEN_FILES = "hidden-files"
    NOT_LOOKED_AT = "not-looked-at"
    LOST_LINES = "lost-lines"
    CUT_VALUES = "cut-values"
    DOUBLED_QUOTES = "doubled-quotes"
    ESCAPERS = "escapers"
    DECIMAL_ROUNDED = "decimal-rounded"
    NULL_TEXTS = "null-texts"
    SEVERAL_VALUES = "several-values"
    BAND_FULL = "band-full"
    BOUND_WITHOUT_BOOKMARK = "bound-without-bookmark"
    FOLDER_WINS = "folder-wins"
    COLUMN_MISSING = "column-missing"
    FIELDS_UNDECLARED = "fields-undeclared"
    JDBC_KEY = "jdbc-key"
    JDBC_QUERY = "jdbc-query"
    JDBC_ONE_CONNECTION = "jdbc-one-connection"
    JDBC_NULLS = "jdbc-nulls"
    JDBC_BELOW = "jdbc-below"
    JDBC_AHEAD = "jdbc-ahead"
    JDBC_LATE = "jdbc-late"
    FIELD_MISSING = "field-missing"
    MAPPING_SOURCE = "mapping-source"
    MAPPING_PART = "mapping-part"
    MAPPING_TYPE = "mapping-type"
    MAPPING_TARGET = "mapping-target"
    FIELD_REPLACED = "field-replaced"
    ROW_TAG = "row-tag"
    TEXT_BETWEEN_ROWS = "text-between-rows"
    NO_COLUMNS = "no-columns"
    OPTION_IGNORED = "option-ignored"
    SCHEMA_LACKS = "schema-lacks"
    SCHEMA_OF_FILES = "schema-of-files"
    HEADER_IS_A_ROW = "header-is-a-row"
    RESULTS_NOT_PUBLISHED = "results-not-published"
    JSON_TEXT = "json-text"
    JSON_TWICE = "json-twice"
    JSON_ROUNDED = "json-rounded"
    JSON_HALF = "json-half"
    JSON_EMPTY = "json-empty"
    JSON_NULL_RECORD = "json-null-record"
    JSON_BEYOND = "json-beyond"
    XML_ROUNDED = "xml-rounded"
    DYNAMODB_ROUNDED = "dynamodb-rounded"
    JSON_BROKEN = "json-broken"
    JSON_VALUE = "json-value"
    WHITE_ROWS = "white-rows"
    TABLE_NOT_LOOKED_AT = "table-not-looked-at"
    JSON_CASE = "json-case"
    SERDE_JAR = "serde-jar"
    FILTER_LEFT_OUT = "filter-left-out"
    NULL_OR_LACKING = "null-or-lacking"
    NO_VALUE = "no-value"
    LOGGED_COLUMNS = "logged-columns"
    CSV_ORDER = "csv-order"
    DATABASE_MADE = "database-made"
    ERROR_RECORDS = "error-records"
    PACKAGES_IGNORED = "packages-ignored"
    PARTITION_KEYS = "partition-keys"
    ICEBERG_SESSION_CATALOG = "iceberg-session-catalog"
    STORAGE_CLASS = "storage-class"
    TABLE_CHANGED = "table-changed"
    SCHEMA_CHANGED = "schema-changed"
    TYPES_MIXED = "types-mixed"
    NOT_OBSERVED = "not-observed"
    ROWS_RESCUED = "rows-rescued"
    ROWS_QUARANTINED = "rows-quarantined"
    SESSION_BOOKMARK = "session-bookmark"

    @property
    def message(self) -> str:
        """Return the message in one line: what happened, what to do, and the id."""
        advice = advice_of("warnings")[self.value]
        return f"{'; '.join(filter(None, (advice.text, advice.remedy)))} ({advice.id})"


LEAVES_OUT = frozenset(
    (
        *(RunWarning.LEFT_OUT_BEFORE, RunWarning.OLD_FILES, RunWarning.FUTURE_FILES),
        *(RunWarning.MARK_AHEAD, RunWarning.HIDDEN_FILES, RunWarning.BAND_FULL),
        *(RunWarning.JDBC_NULLS, RunWarning.JDBC_BELOW, RunWarning.JDBC_AHEAD),
        *(RunWarning.JDBC_LATE, RunWarning.TABLE_CHANGED, RunWarning.LOST_LINES),
        *(RunWarning.SEVERAL_VALUES, RunWarning.TEXT_BETWEEN_ROWS, RunWarning.ERROR_RECORDS),
        *(RunWarning.FILTER_LEFT_OUT, RunWarning.PARTITION_KEYS, RunWarning.NO_COLUMNS),
    )
)
"""The warnings of what has arrived and is in no row, so that a target lacks it."""


def leaves_out(text: str) -> bool:
    """Return whether the message of a warning says that input is in no row.

    Example:
        >>> leaves_out(RunWarning.OLD_FILES.message.format("s3://landing/late.json"))
        True
    """
    match = ID.search(text)
    advice = advice_of("warnings")
    return match is not None and match[1] in {advice[warning.value].id for warning in LEAVES_OUT}


def note(warning: RunWarning, about: str) -> None:
    """Remember a warning of this job process; outside of a job run nothing is noted."""
    folder = os.environ.get(RUN_FOLDER_VARIABLE)
    if folder:
        append_line(Path(folder) / WARNINGS_FILE, [warning.name, about])
    home, run_id = os.environ.get("TIDEMARK_HOME"), os.environ.get(RUN_ID_VARIABLE)
    if home and run_id:
        with Store(Home(Path(home)).database) as store:
            keep_warnings(store, run_id, [warning.message.format(about)])


def read_warnings(run_folder: Path) -> list[str]:
    """Return the messages of a run's warnings, each once, in order."""
    return [RunWarning[name].message.format(about) for name, about in noted(run_folder)]


def noted(run_folder: Path) -> list[tuple[str, str]]:
    """Return the names of a run's warnings and what each is about, each once, in order."""
    file = run_folder / WARNINGS_FILE
    if not file.exists():
        return []
    warnings: list[tuple[str, str]] = []
    lines = dict.fromkeys(file.read_text(encoding="utf-8", errors="replace").splitlines())
    for line in lines:
        # A run that was killed may leave a part of a line, and a script has files of any name.
        with suppress(TypeError, ValueError, RecursionError):
            name, about = json.loads(line)
            if name in RunWarning.__members__:
                warnings.append((name, about))
    return warnings
