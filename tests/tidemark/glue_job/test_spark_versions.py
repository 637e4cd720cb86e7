"""What Spark's own rules make of a script on Glue 5.1 and on 6.0, as the page semantics lists."""

from __future__ import annotations

import decimal

import pytest
from pyspark.errors import PySparkException

from tidemark.glue_job.frames.mapping import apply_mapping
from tidemark.local_state.sparks.installed import own_spark

pytestmark = pytest.mark.spark
IS_SPARK_4 = own_spark().major >= 4


@pytest.fixture
def result(spark):
    """Return what an expression gives: a value, or the name of Spark's error."""

    def ask(expression):
        try:
            return spark.sql(f"SELECT {expression}").first()[0]
        except PySparkException as error:
            return str(error).partition("]")[0].rpartition("[")[2]

    return ask


def of_versions(on_5_1, on_6_0):
    return on_6_0 if IS_SPARK_4 else on_5_1


@pytest.mark.rule("Glue 5.1 and 6.0", source="ANSI", versions=("null", "fails: CAST_INVALID_INPUT"))
@pytest.mark.parametrize(
    "expression", ["CAST('abc' AS INT)", "to_date('2024-13-01')", "CAST('x' AS TIMESTAMP)"]
)
def test_a_string_that_is_not_of_the_type_it_is_cast_to(result, expression):
    assert result(expression) == of_versions(None, "CAST_INVALID_INPUT")


@pytest.mark.rule(
    "Glue 5.1 and 6.0", source="ANSI", versions=("null", "fails: CANNOT_PARSE_TIMESTAMP")
)
def test_a_string_that_is_not_of_the_format_of_to_timestamp(result):
    assert result("to_timestamp('x', 'yyyy')") == of_versions(None, "CANNOT_PARSE_TIMESTAMP")


@pytest.mark.rule(
    "Glue 5.1 and 6.0", source="ANSI", versions=("other digits", "fails: CAST_OVERFLOW")
)
def test_a_number_too_large_for_the_type_it_is_cast_to(result):
    assert result("CAST(5000000000 AS INT)") == of_versions(705032704, "CAST_OVERFLOW")


@pytest.mark.rule(
    "Glue 5.1 and 6.0", source="ANSI", versions=("null", "fails: NUMERIC_VALUE_OUT_OF_RANGE")
)
def test_a_number_with_too_many_digits_for_a_decimal(result):
    found = result("CAST(12345.678 AS DECIMAL(5,2))")

    assert found == of_versions(None, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION")


@pytest.mark.rule(
    "Glue 5.1 and 6.0", source="ANSI", versions=("other digits", "fails: ARITHMETIC_OVERFLOW")
)
def test_a_sum_too_large_for_its_type(result):
    rows = "sum(n) FROM VALUES (9223372036854775807L), (1L) AS t(n)"

    assert result("2147483647 + 1") == of_versions(-(2**31), "ARITHMETIC_OVERFLOW")
    assert result(rows) == of_versions(-(2**63), "ARITHMETIC_OVERFLOW")


@pytest.mark.rule("Glue 5.1 and 6.0", source="ANSI", versions=("null", "fails: DIVIDE_BY_ZERO"))
@pytest.mark.parametrize("expression", ["1 / 0", "1 DIV 0"])
def test_a_division_by_zero(result, expression):
    assert result(expression) == of_versions(None, "DIVIDE_BY_ZERO")


@pytest.mark.rule(
    "Glue 5.1 and 6.0", source="ANSI", versions=("null", "fails: INVALID_ARRAY_INDEX")
)
def test_an_element_that_an_array_lacks(result):
    assert result("array(1)[5]") == of_versions(None, "INVALID_ARRAY_INDEX")


@pytest.mark.rule("Glue 5.1 and 6.0", source="ANSI", versions=("-1", "null"))
def test_the_size_of_null(result):
    assert result("size(CAST(NULL AS array<int>))") == of_versions(-1, None)


@pytest.mark.rule("Glue 5.1 and 6.0", source="ANSI", versions=("null", "fails: CAST_INVALID_INPUT"))
def test_a_comparison_of_a_string_with_a_number(result):
    assert result("'a' = 1") == of_versions(None, "CAST_INVALID_INPUT")


@pytest.mark.rule("Glue 5.1 and 6.0", source="ANSI", versions=("the text", "a number, or fails"))
def test_the_first_of_a_string_and_a_number(result):
    assert result("coalesce('7', 1)") == of_versions("7", 7)
    assert result("coalesce('a', 1)") == of_versions("a", "CAST_INVALID_INPUT")


@pytest.mark.rule(
    "Glue 5.1 and 6.0", source="ANSI", versions=("null", "fails: its month or day is named")
)
def test_a_date_made_of_a_month_that_there_is_not(result):
    found = str(result("make_date(2024, 13, 1)"))

    assert found.startswith(of_versions("None", "DATETIME_FIELD_OUT_OF_BOUNDS"))


@pytest.mark.rule(
    "Glue 5.1 and 6.0",
    source="ANSI",
    versions=("microseconds since 1970", "refused: DATATYPE_MISMATCH"),
)
def test_a_boolean_as_a_timestamp(result):
    found = str(result("CAST(true AS TIMESTAMP)"))

    assert found.startswith(of_versions("1970-01-01 00:00:00.000001", "DATATYPE_MISMATCH"))


@pytest.mark.rule("Glue 5.1 and 6.0", source="ANSI", versions=("fails", "fails"))
def test_a_key_that_a_map_has_twice(result):
    assert result("map(1, 2, 1, 3)") == "DUPLICATED_MAP_KEY"


@pytest.mark.rule("Glue 5.1 and 6.0", source="ANSI", versions=("null", "null"))
def test_a_key_that_a_map_lacks(result):
    assert result("element_at(map(1, 2), 3)") is None


@pytest.mark.rule(
    "Glue 5.1 and 6.0",
    source="SPARK4",
    versions=("fails: Spark 2 read it", "fails; null where it is read from a file"),
)
def test_a_date_that_only_the_parser_of_spark_2_reads(result):
    found = result("to_date('2024-1-5', 'yyyy-MM-dd')")

    assert found == of_versions(
        "INCONSISTENT_BEHAVIOR_CROSS_VERSION.PARSE_DATETIME_BY_NEW_PARSER",
        "CANNOT_PARSE_TIMESTAMP",
    )


@pytest.mark.rule("Glue 5.1 and 6.0", source="SPARK4", versions=("fails", "null"))
def test_a_date_of_csv_that_there_is_not(result):
    found = result("from_csv('2024-13-01', 'd date').d")

    assert found == of_versions(
        "INCONSISTENT_BEHAVIOR_CROSS_VERSION.PARSE_DATETIME_BY_NEW_PARSER", None
    )


@pytest.mark.rule("Glue 5.1 and 6.0", source="SPARK4", versions=("U+FFFD", "fails"))
def test_bytes_that_decode_does_not_know(result):
    found = result("decode(x'ff', 'UTF-8')")

    assert found == of_versions("\ufffd", "MALFORMED_CHARACTER_CODING")


@pytest.mark.rule("Glue 5.1 and 6.0", source="SPARK4", versions=("snappy", "zstd"))
def test_the_codec_of_orc_files_that_a_script_writes(spark):
    setting = "spark.sql.orc.compression.codec"
    found = spark._jsparkSession.sessionState().conf().getConfString(setting)

    assert found == of_versions("snappy", "zstd")


@pytest.mark.rule("Glue 5.1 and 6.0", source="SPARK4", versions=("of Hive", "of Parquet"))
def test_a_table_that_create_table_makes_without_using(spark):
    setting = "spark.sql.legacy.createHiveTableByDefault"
    found = spark._jsparkSession.sessionState().conf().getConfString(setting)

    assert found == of_versions("true", "false")


@pytest.mark.rule("Glue 5.1 and 6.0", source="SPARK4", versions=("a timestamp", "a timestamp"))
def test_a_time_without_a_zone_in_sql(result, spark):
    assert spark.sql("SELECT timestamp'2024-01-01'").dtypes[0][1] == "timestamp"


@pytest.mark.rule("Glue 5.1 and 6.0", source="ANSI", versions=("null", "null"))
def test_try_functions_give_null_on_both(result):
    assert result("try_cast('abc' AS INT)") is None
    assert result("try_divide(1, 0)") is None
    assert result("try_add(2147483647, 1)") is None
    assert result("try_to_timestamp('x', 'yyyy')") is None
    assert result("1.50") == decimal.Decimal("1.50")


@pytest.mark.rule(
    "Glue 5.1 and 6.0", source="INFER", versions=("null, also with ANSI", "null, also with ANSI")
)
@pytest.mark.parametrize("is_ansi", ["true", "false"])
def test_what_apply_mapping_cannot_convert(spark, is_ansi):
    before = spark.conf.get("spark.sql.ansi.enabled")
    rows = spark.createDataFrame([("x", 5_000_000_000)], "text string, number bigint")
    mappings = [("text", "string", "date", "date"), ("number", "long", "int", "int")]
    spark.conf.set("spark.sql.ansi.enabled", is_ansi)
    try:
        assert tuple(apply_mapping(rows, mappings).first()) == (None, None)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
