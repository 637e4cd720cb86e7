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
from tidemark.model.advice import Advice, advice_of

WARNINGS_FILE = "warnings.jsonl"
RUN_FOLDER_VARIABLE = "TIDEMARK_RUN_FOLDER"
# Set in a run of a job that a template or a client of Glue defined, not of a submitted script.
DECLARED_VARIABLE = "TIDEMARK_DECLARED_JOB"
ID = re.compile(r" \((TM2\d\d)\)$")


RunWarning = Enum(
    "RunWarning",
    "INIT_MISSING COMMIT_MISSING COMMIT_IN_FINALLY CTX_MISSING CONCURRENT_RUNS DATAFRAME_READER "
    "NO_BOOKMARK LEFT_OUT_BEFORE FUTURE_FILES CTX_RENAMED INIT_LATE MARK_AHEAD "
    "COMMIT_BEFORE_SOURCE OLD_FILES HIDDEN_FILES NOT_LOOKED_AT LOST_LINES CUT_VALUES "
    "DOUBLED_QUOTES ESCAPERS DECIMAL_ROUNDED NULL_TEXTS SEVERAL_VALUES BAND_FULL "
    "BOUND_WITHOUT_BOOKMARK FOLDER_WINS COLUMN_MISSING FIELDS_UNDECLARED JDBC_KEY JDBC_QUERY "
    "JDBC_ONE_CONNECTION JDBC_NULLS JDBC_BELOW JDBC_AHEAD JDBC_LATE FIELD_MISSING MAPPING_SOURCE "
    "MAPPING_PART MAPPING_TYPE MAPPING_TARGET FIELD_REPLACED ROW_TAG TEXT_BETWEEN_ROWS NO_COLUMNS "
    "OPTION_IGNORED SCHEMA_LACKS SCHEMA_OF_FILES HEADER_IS_A_ROW RESULTS_NOT_PUBLISHED JSON_TEXT "
    "JSON_TWICE JSON_ROUNDED JSON_HALF JSON_EMPTY JSON_NULL_RECORD JSON_BEYOND XML_ROUNDED "
    "DYNAMODB_ROUNDED JSON_BROKEN JSON_VALUE WHITE_ROWS TABLE_NOT_LOOKED_AT JSON_CASE SERDE_JAR "
    "FILTER_LEFT_OUT NULL_OR_LACKING NO_VALUE LOGGED_COLUMNS CSV_ORDER DATABASE_MADE "
    "ERROR_RECORDS PACKAGES_IGNORED PARTITION_KEYS ICEBERG_SESSION_CATALOG STORAGE_CLASS "
    "TABLE_CHANGED",
)
"""The kinds of warnings, in the order of the catalogue, which has their messages."""


def catalogue_entry(warning: RunWarning) -> Advice:
    """Return what the catalogue says of a warning, with ``{}`` for its subject."""
    return advice_of("warnings")[warning.name.lower().replace("_", "-")]


def message_of(warning: RunWarning, about: object) -> str:
    """Return the message in one line: what happened, what to do, and the id."""
    advice = catalogue_entry(warning)
    text = "; ".join(filter(None, (advice.text, advice.remedy)))
    return f"{text} ({advice.id})".format(about)


LEAVES_OUT = frozenset(
    RunWarning[name]
    for name in (
        "LEFT_OUT_BEFORE OLD_FILES FUTURE_FILES MARK_AHEAD HIDDEN_FILES BAND_FULL JDBC_NULLS "
        "JDBC_BELOW JDBC_AHEAD JDBC_LATE TABLE_CHANGED LOST_LINES SEVERAL_VALUES "
        "TEXT_BETWEEN_ROWS ERROR_RECORDS FILTER_LEFT_OUT PARTITION_KEYS NO_COLUMNS"
    ).split()
)
"""The warnings of what has arrived and is in no row, so that a target lacks it."""


def leaves_out(text: str) -> bool:
    """Return whether the message of a warning says that input is in no row.

    Example:
        >>> leaves_out(message_of(RunWarning.OLD_FILES, "s3://landing/late.json"))
        True
    """
    match = ID.search(text)
    return match is not None and match[1] in {catalogue_entry(warning).id for warning in LEAVES_OUT}


def note(warning: RunWarning, about: str) -> None:
    """Remember a warning of this job process; outside of a job run nothing is noted."""
    folder = os.environ.get(RUN_FOLDER_VARIABLE)
    if folder:
        append_line(Path(folder) / WARNINGS_FILE, [warning.name, about])
    home, run_id = os.environ.get("TIDEMARK_HOME"), os.environ.get(RUN_ID_VARIABLE)
    if home and run_id:
        with Store(Home(Path(home)).database) as store:
            keep_warnings(store, run_id, [message_of(warning, about)])


def read_warnings(run_folder: Path) -> list[str]:
    """Return the messages of a run's warnings, each once, in order."""
    return [message_of(RunWarning[name], about) for name, about in noted(run_folder)]


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
