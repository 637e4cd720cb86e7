"""Known causes of failures on Spark 4, by the messages that Spark and Python print."""

from __future__ import annotations

import pytest

from tidemark.operate.versions.causes import cause_of

NO_ANSI = "--conf spark.sql.ansi.enabled=false"
CAST = (
    "NumberFormatException: [CAST_INVALID_INPUT] The value 'abc' of the type \"STRING\" cannot be "
    'cast to "INT" because it is malformed. SQLSTATE: 22018 (orders.py, line 12)'
)


@pytest.mark.parametrize(
    ("error", "remedy", "setting"),
    [
        (CAST, "try_cast", NO_ANSI),
        ("[ARITHMETIC_OVERFLOW] integer overflow", "wider type", NO_ANSI),
        ("[DIVIDE_BY_ZERO] Division by zero", "nullif", NO_ANSI),
        ("[INVALID_ARRAY_INDEX] The index 5 is out of bounds", "get(", NO_ANSI),
        ("[CANNOT_PARSE_TIMESTAMP] Text '2024-13-01' could", "try_to_timestamp", NO_ANSI),
        ("[DUPLICATED_MAP_KEY] Duplicate map key 1", "distinct", "mapKeyDedupPolicy=LAST_WIN"),
        (
            "[INCONSISTENT_BEHAVIOR_CROSS_VERSION.PARSE_DATETIME_BY_NEW_PARSER] You may",
            "pattern",
            "timeParserPolicy=LEGACY",
        ),
        ("[ILLEGAL_DAY_OF_WEEK] Illegal input for day of week: xx.", "next_day", NO_ANSI),
        ("[MALFORMED_CHARACTER_CODING] Invalid value", "encoding", "legacy.codingErrorAction=true"),
        (
            "[INVALID_PARAMETER_VALUE.CHARSET] The value of parameter(s) `charset`",
            "ISO-8859-1",
            "legacy.javaCharsets=true",
        ),
        ("ModuleNotFoundError: No module named 'telnetlib' (a.py, line 1)", "Python", ""),
        ("AttributeError: module 'numpy' has no attribute 'trapz'", "numpy's", ""),
    ],
)
def test_a_known_error_has_a_remedy_and_the_setting_of_before(error, remedy, setting):
    cause = cause_of(error)

    assert cause is not None
    assert remedy in cause.remedy
    assert setting in cause.setting
    assert bool(setting) == bool(cause.setting)


def test_the_remedy_has_the_type_that_the_script_casts_to():
    error = (
        """[CAST_INVALID_INPUT] The value 'x' of the type "STRING" cannot be cast to "TIMESTAMP" """
    )

    assert "try_cast(n AS TIMESTAMP)" in cause_of(error).remedy


def test_the_place_is_the_line_of_the_script():
    assert cause_of(CAST).place == "orders.py:12"
    assert cause_of("[DIVIDE_BY_ZERO] Division by zero").place == ""


@pytest.mark.parametrize(
    "error",
    [
        "",
        "ValueError: no such day",
        "ModuleNotFoundError: No module named 'cginew'",
        "Job timed out",
    ],
)
def test_another_error_has_no_known_cause(error):
    assert cause_of(error) is None
