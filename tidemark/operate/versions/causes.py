"""The known causes for which a job that ran on Spark 3.5 fails on Spark 4, and their remedies.

Sources: https://spark.apache.org/docs/latest/sql-migration-guide.html,
https://spark.apache.org/docs/latest/sql-error-conditions.html,
https://docs.python.org/3/whatsnew/3.12.html and https://docs.python.org/3/whatsnew/3.13.html
"""

import re
from dataclasses import dataclass

NO_ANSI = "--conf spark.sql.ansi.enabled=false"
CAST_TO = re.compile(r'cannot be cast to "([^"]+)"')
PLACE = re.compile(r"\((?P<file>[^()]+), line (?P<line>\d+)\)")


@dataclass(frozen=True)
class Cause:
    """Why a job fails, and what to do.

    Attributes:
        title: the difference between the versions.
        remedy: the change of the script.
        setting: the argument of the job that brings the old behaviour back; empty if none does.
        place: the line of the script, such as ``orders.py:12``; empty if it is not known.
    """

    title: str
    remedy: str
    setting: str = ""
    place: str = ""


def _ansi(title: str, remedy: str) -> Cause:
    return Cause(f"ANSI SQL is on: {title}", remedy, NO_ANSI)


# Settings with which Spark 4 does what 3.5 did, the one that explains most first.
OLD_SETTINGS = (
    "spark.sql.ansi.enabled=false",
    "spark.sql.storeAssignmentPolicy=LEGACY",
    "spark.sql.legacy.timeParserPolicy=LEGACY",
    "spark.sql.mapKeyDedupPolicy=LAST_WIN",
    "spark.sql.legacy.disableMapKeyNormalization=true",
    "spark.sql.legacy.codingErrorAction=true",
    "spark.sql.legacy.javaCharsets=true",
    "spark.sql.legacy.createHiveTableByDefault=true",
    "spark.sql.parquet.inferTimestampNTZ.enabled=false",
)

# By what the message has.
CAUSES = {
    r"CAST_INVALID_INPUT": _ansi(
        "a string that is not of the type fails, and was null before",
        "cast with try_cast, such as F.expr('try_cast(n AS {kind})')",
    ),
    r"CAST_OVERFLOW": _ansi(
        "a number that does not fit its type fails, and was another number before",
        "cast to a wider type, or with try_cast(n AS {kind}), which gives null",
    ),
    r"ARITHMETIC_OVERFLOW|BINARY_ARITHMETIC_OVERFLOW": _ansi(
        "a result that does not fit its type fails, and was another number before",
        "compute in a wider type (BIGINT, DECIMAL), or with try_add, try_multiply, try_subtract",
    ),
    r"NUMERIC_VALUE_OUT_OF_RANGE|NUMERIC_OUT_OF_SUPPORTED_RANGE": _ansi(
        "a decimal that does not fit its precision fails, and was null before",
        "declare more digits, or use try_cast",
    ),
    r"DIVIDE_BY_ZERO|REMAINDER_BY_ZERO": _ansi(
        "a division by zero fails, and was null before",
        "divide by nullif(divisor, 0), or with try_divide; only 6.0 has try_mod",
    ),
    r"INTERVAL_DIVIDED_BY_ZERO|INTERVAL_ARITHMETIC_OVERFLOW|DATETIME_OVERFLOW": _ansi(
        "an interval or a date that does not fit fails", "check the operands first"
    ),
    r"INVALID_ARRAY_INDEX": _ansi(
        "an index that an array does not have fails, and was null before",
        "read it with get(array, index) or try_element_at",
    ),
    r"CANNOT_PARSE_TIMESTAMP|CANNOT_PARSE_TIME|DATETIME_FIELD_OUT_OF_BOUNDS|CANNOT_PARSE_INTERVAL"
    r"|CONVERSION_INVALID_INPUT|INVALID_URL": _ansi(
        "a string that a function cannot parse fails, and was null before",
        "parse with try_to_timestamp, and cast its result; only 6.0 has try_to_date",
    ),
    r"INCONSISTENT_BEHAVIOR_CROSS_VERSION\.(?:PARSE_DATETIME|DATETIME)": Cause(
        "the parser of dates and times is stricter",
        "correct the pattern (https://spark.apache.org/docs/latest/sql-ref-datetime-pattern.html)",
        "--conf spark.sql.legacy.timeParserPolicy=LEGACY",
    ),
    r"DUPLICATED_MAP_KEY": Cause(
        "a map with a key twice fails",
        "make the keys distinct",
        "--conf spark.sql.mapKeyDedupPolicy=LAST_WIN",
    ),
    r"ILLEGAL_DAY_OF_WEEK": _ansi(
        "a word that is not a day of the week fails, and gave null before",
        "correct the name, or pass only names of days to next_day",
    ),
    r"MALFORMED_CHARACTER_CODING": Cause(
        "bytes or characters that an encoding does not have fail, and were replaced before",
        "name the encoding that the bytes have, such as decode(bytes, 'ISO-8859-1')",
        "--conf spark.sql.legacy.codingErrorAction=true",
    ),
    r"INVALID_PARAMETER_VALUE\.CHARSET": Cause(
        "encode and decode know fewer encodings",
        "name one of US-ASCII, ISO-8859-1, UTF-8, UTF-16BE, UTF-16LE, UTF-16 and UTF-32",
        "--conf spark.sql.legacy.javaCharsets=true",
    ),
    r"DATATYPE_MISMATCH|INCOMPATIBLE_DATA_FOR_TABLE": _ansi(
        "values are stored and compared only if their types allow it",
        "cast one side to the type of the other",
    ),
    r"ModuleNotFoundError: No module named '(?:aifc|asynchat|asyncore|audioop|cgi|cgitb|chunk|crypt"
    r"|distutils|imghdr|imp|mailcap|msilib|nis|nntplib|ossaudiodev|pipes|smtpd|sndhdr|spwd|sunau"
    r"|telnetlib|uu|xdrlib)\b": Cause(
        "Python 3.12 and 3.13 removed this module",
        "use what the Python documentation names instead, or ship a copy of it",
    ),
    r"module 'numpy' has no attribute": Cause(
        "numpy 2.4 removed names", "use the names that the message or numpy's release notes give"
    ),
}


def cause_of(error: str) -> Cause | None:
    """Return the known cause of an ErrorMessage, with the line of the script, or None."""
    match = PLACE.search(error)
    place = f"{match['file']}:{match['line']}" if match else ""
    for pattern, cause in CAUSES.items():
        if re.search(pattern, error):
            kind = CAST_TO.search(error)
            remedy = cause.remedy.replace("{kind}", kind[1] if kind else "INT")
            return Cause(cause.title, remedy, cause.setting, place)
    return None


def line_of(error: str) -> str:
    """Return the place in the script that an error names; empty if it names none."""
    match = PLACE.search(error)
    return f"{match['file']}:{match['line']}" if match else ""
