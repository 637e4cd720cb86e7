"""EvaluateDataQuality on rows: metrics, rows, other data."""

from __future__ import annotations

import pytest
from pyspark.sql import functions

from tidemark.errors import UnsupportedError, UsageError

pytestmark = pytest.mark.spark
PUBLISHING = {
    "dataQualityEvaluationContext": "people",
    "enableDataQualityCloudWatchMetrics": True,
    "enableDataQualityResultsPublishing": True,
    "resultsS3Prefix": "s3://results/",
}
# Rule -> whether it passes, and its metrics.
RULES = {
    "RowCount = 4": (True, {"Dataset.*.RowCount": 4.0}),
    'RowCount = 3 where "id < 3"': (True, {"Dataset.*.RowCount": 3.0}),
    "ColumnCount = 5": (True, {"Dataset.*.ColumnCount": 5.0}),
    'Completeness "name" > 0.7': (True, {"Column.name.Completeness": 0.75}),
    'IsComplete "id"': (True, {"Column.id.Completeness": 1.0}),
    'IsUnique "id"': (False, {"Column.id.Uniqueness": 0.5}),
    'IsUnique "age"': (True, {"Column.age.Uniqueness": 1.0}),  # null does not count
    'IsUnique "id" where "age > 0"': (True, {"Column.id.Uniqueness": 1.0}),
    'Uniqueness "id" "name" = 1.0': (True, {"Multicolumn.id,name.Uniqueness": 1.0}),
    'IsPrimaryKey "id" "age"': (
        False,
        {
            "Multicolumn.id,age.Uniqueness": 1.0,
            "Column.id.Completeness": 1.0,
            "Column.age.Completeness": 0.75,
        },
    ),
    'UniqueValueRatio "id" between 0.6 and 0.7': (
        True,
        {"Column.id.UniqueValueRatio": 0.6666666666666666},
    ),
    'DistinctValuesCount "age" = 4': (True, {"Column.age.DistinctValuesCount": 4.0}),  # with null
    'Mean "age" = 29': (True, {"Column.age.Mean": 29.0}),
    'Sum "age" = 87': (True, {"Column.age.Sum": 87.0}),
    'StandardDeviation "id" < 2': (
        True,
        {"Column.id.StandardDeviation": pytest.approx(1.0897247358851685)},
    ),
    'Entropy "id" > 1': (True, {"Column.id.Entropy": 1.0397207708399179}),
    'ColumnCorrelation "id" "id" = 1.0': (True, {"Multicolumn.id,id.ColumnCorrelation": 1.0}),
    'ColumnValues "id" >= 1': (True, {"Column.id.Minimum": 1.0}),
    'ColumnValues "id" < 4': (False, {"Column.id.Maximum": 4.0}),
    'ColumnValues "age" > 5': (False, {"Column.age.Minimum": 7.0}),  # null fails
    'ColumnValues "age" != 7': (False, {"Column.age.ColumnValues.Compliance": 0.75}),
    'ColumnValues "age" not in [8,9]': (True, {"Column.age.ColumnValues.Compliance": 1.0}),
    'ColumnValues "age" != NULL': (False, {"Column.age.ColumnValues.Compliance": 0.75}),
    'ColumnValues "id" between 1 and 4': (False, {"Column.id.ColumnValues.Compliance": 0.5}),
    'ColumnValues "day" = NULL': (True, {"Column.day.ColumnValues.Compliance": 1.0}),
    'ColumnValues "name" in ["Ann","Bob",NULL,WHITESPACES_ONLY]': (
        True,
        {"Column.name.ColumnValues.Compliance": 1.0},
    ),
    'ColumnValues "email" = EMPTY with threshold between 0.2 and 0.3': (
        True,
        {"Column.email.ColumnValues.Compliance": 0.25},
    ),
    'ColumnValues "email" matches ".*@x\\.de" with threshold >= 0.5': (
        True,
        {"Column.email.ColumnValues.Compliance": 0.5},
    ),
    'ColumnLength "name" < 4': (True, {"Column.name.MaximumLength": 3.0}),
    'ColumnLength "name" in [0,2,3]': (True, {"Column.name.LengthCompliance": 1.0}),
    'ColumnDataType "id" = "Long"': (True, {"Column.id.ColumnDataType.Compliance": 1.0}),
    'DataFreshness "day" < 3 days': (False, {"Column.day.DataFreshness.Compliance": 0.0}),
    'CustomSql "select sum(age) from primary" = 87': (True, {"Dataset.*.CustomSQL": 87.0}),
    'CustomSql "select id from primary where age > 8" with threshold > 0.4': (
        True,
        {"Dataset.*.CustomSQL.Compliance": 0.5},
    ),
    'ReferentialIntegrity "id" "ref.key" >= 0.75': (
        True,
        {"Column.ref.ReferentialIntegrity": 0.75},
    ),
    'ReferentialIntegrity "id,name" "ref.{key,word}" = 0.25': (
        True,
        {"Column.ref.ReferentialIntegrity": 0.25},
    ),
    'RowCountMatch "ref" = 2.0': (True, {"Dataset.ref.RowCountMatch": 2.0}),
    'SchemaMatch "ref" = 1.0': (False, {"Dataset.ref.SchemaMatch": 0.0}),
    'SchemaMatch "same" = 1.0': (True, {"Dataset.same.SchemaMatch": 1.0}),
    'DatasetMatch "keyed" "name" "id->key,age" = 0.5': (
        False,
        {},  # a key must be whole: name has a null
    ),
    'AggregateMatch "sum(id)" "sum(ref.key)" = 3.0': (True, {"Column.id,key.AggregateMatch": 3.0}),
}


@pytest.mark.rule(
    "Data Quality",
    source="DQDL, DEEQU",
    choice="two nulls are equal in DatasetMatch; ColumnLength != applies to every row",
)
def test_rules_have_the_outcomes_and_metrics_of_glue(evaluated, people, rows_of):
    others = {
        "ref": rows_of("key int, word string", (1, "Ann"), (2, None)),
        "same": people,
        "keyed": rows_of("key int, name string, age int", (1, "Ann", 30), (2, "Bob", 5)),
    }

    found = evaluated(*RULES, publishing_options=PUBLISHING, additional_data_sources=others)

    assert list(found) == list(RULES)
    passed = {rule: (outcome == "Passed", metrics) for rule, (outcome, _, metrics) in found.items()}
    assert passed == RULES
    assert found['DatasetMatch "keyed" "name" "id->key,age" = 0.5'][1] == (
        "Provided key map not suitable for given data frames."
    )


@pytest.fixture
def processed(people):
    """Return a function that returns the collection of process_rows, and its rows by id."""
    from awsgluedq.transforms import EvaluateDataQuality

    def processed(*rules, **more):
        found = EvaluateDataQuality().process_rows(
            frame=people, ruleset=f"Rules = [ {', '.join(rules)} ]", **more
        )
        rows = found.select("rowLevelOutcomes").toDF().collect()
        return found, sorted(rows, key=lambda row: (row.id, row.name is None))

    return processed


@pytest.mark.nightly
@pytest.mark.rule("Data Quality", source="DQDL, DEEQU")
def test_rows_list_the_rules_that_they_pass_fail_and_skip(processed, people, rows_of):
    keyed = rows_of("key int, name string", (1, "Ann"), (2, "Bob"), (4, None))
    rules = [
        'IsUnique "id"',
        'ColumnValues "age" > 10',
        'IsComplete "name" where "id > 1"',
        "RowCount > 100",
        '(IsComplete "age") OR (IsComplete "name")',
        '(RowCount > 0) AND (IsComplete "name")',
        'ReferentialIntegrity "id,name" "keyed.{key,name}" > 0.4',
        'CustomSql "select id, name from primary where age is not null"',
    ]

    found, rows = processed(*rules, additional_data_sources={"keyed": keyed})

    assert list(found.keys()) == ["ruleOutcomes", "rowLevelOutcomes", "originalData"]
    assert found["originalData"] is people
    unique, values, complete, _, either, _, reference, sql = rules
    skipped = ["RowCount > 100", '(RowCount > 0) AND (IsComplete "name")']
    assert [row[:5] for row in rows] == [tuple(row) for row in people.toDF().collect()]
    assert [row.DataQualityRulesPass for row in rows] == [
        [unique, values, complete, either, reference, sql],
        [complete, either, reference],
        [either, sql],
        [unique, values, complete, either, sql],
    ]
    assert [row.DataQualityRulesFail for row in rows] == [
        [],
        [unique, values, sql],
        [unique, values, complete, reference],
        [reference],
    ]
    assert [row.DataQualityRulesSkip for row in rows] == [skipped] * 4
    assert [row.DataQualityEvaluationResult for row in rows] == ["Passed", *["Failed"] * 3]


def test_rules_without_results_for_rows_skip_every_row(processed):
    _, rows = processed("ColumnCount > 0", 'IsComplete "nope"')

    assert [row.DataQualityRulesSkip for row in rows] == [
        ["ColumnCount > 0", 'IsComplete "nope"']
    ] * 4
    assert {row.DataQualityEvaluationResult for row in rows} == {"Passed"}


@pytest.mark.rule("Data Quality", source="DQDL")
def test_a_composite_rule_judges_each_row_if_the_method_says_so(processed, evaluated):
    rule = '(ColumnValues "id" > 1) OR (ColumnValues "age" > 10)'
    by_row = {"compositeRuleEvaluation.method": "ROW"}

    found, rows = processed(rule, additional_options=by_row)

    assert evaluated(rule)[rule][0] == "Failed"  # neither part holds for all rows
    assert [row.Outcome for row in found["ruleOutcomes"].toDF().collect()] == ["Passed"]
    assert [row.DataQualityEvaluationResult for row in rows] == ["Passed"] * 4
    with pytest.raises(UnsupportedError, match=r'Completeness "id" > 0.9.* each row'):
        evaluated('(Completeness "id" > 0.9) AND (IsComplete "id")', additional_options=by_row)


@pytest.mark.rule("Data Quality", source="DQDL")
def test_rows_excluded_by_a_where_clause_can_be_skipped(processed):
    rule = 'IsComplete "age" where "id = 2"'
    label = {"rowLevelConfiguration.filteredRowLabel": "SKIPPED"}

    _, rows = processed(rule, additional_options=label)

    assert [row.DataQualityRulesSkip for row in rows] == [[rule], [], [], [rule]]
    assert [row.DataQualityRulesFail for row in rows] == [[], [rule], [], []]


def test_sql_that_fails_and_sources_that_are_not_there_are_reasons(evaluated):
    found = evaluated(
        'CustomSql "select nope from primary" > 1',
        'CustomSql "select id, age from primary" > 1',
        'CustomSql "select count(*) as n from primary"',
        'CustomSql "select id, 1 as n from primary"',
        'RowCountMatch "nope" > 0.9',
        'AggregateMatch "max(age)" "sum(age)" > 0.9',
        'ReferentialIntegrity "id" "nope.id" > 0.9',
    )

    outcomes, reasons, metrics = zip(*found.values(), strict=True)
    assert (set(outcomes), set(map(str, metrics))) == ({"Failed"}, {"{}"})
    texts = (
        "cannot be resolved",
        "exactly 1 row",
        "must contain at least one column",
        "Columns not found: n",
        "nope not found",
        "max(age) is not",
        "nope not found",
    )
    assert [text in reason for text, reason in zip(texts, reasons, strict=True)] == [True] * 7


def test_a_rule_that_spark_cannot_compute_fails_alone(processed):
    wrong = 'ColumnValues "name" matches "("'
    rules = [wrong, 'IsComplete "id"', 'ColumnLength "age" > 1', 'ColumnDataType "id" = "Text"']

    found, rows = processed(*rules)

    outcomes = {row.Rule: row.FailureReason for row in found["ruleOutcomes"].toDF().collect()}
    assert "Exception thrown while evaluating rule" in outcomes[wrong]
    assert outcomes['IsComplete "id"'] is None
    assert "Expected type of column age to be one of (StringType)" in outcomes[rules[2]]
    assert outcomes[rules[3]] == "Unrecognized data type: Text"
    assert rows[0].DataQualityRulesPass == ['IsComplete "id"']
    assert rows[0].DataQualityRulesSkip == [wrong, *rules[2:]]


def test_without_a_row_there_is_no_value(people):
    from awsgluedq.transforms import EvaluateDataQuality

    ruleset = 'Rules = [RowCount = 0, IsUnique "id", Mean "age" > 1, DataFreshness "day" < 1 days]'
    rows = EvaluateDataQuality.apply(people.filter(lambda row: False), ruleset).toDF().collect()

    nothing = "Empty state for analyzer {}(id,None,None), all input values were NULL."
    assert [(row.Outcome, row.FailureReason) for row in rows] == [
        ("Passed", None),
        ("Failed", nothing.format("Uniqueness")),
        ("Failed", nothing.format("Mean").replace("id", "age")),
        ("Passed", None),
    ]


def test_the_rows_are_computed_once_if_the_input_is_cached(people, spark):
    from awsglue.dynamicframe import DynamicFrame
    from awsgluedq.transforms import EvaluateDataQuality

    def times_computed(caching):
        counted = spark.sparkContext.accumulator(0)

        @functions.udf("int")
        def count(value):
            counted.add(1)
            return value

        rows = people.toDF().withColumn("id", count("id"))
        EvaluateDataQuality.apply(
            frame=DynamicFrame.fromDF(rows, people.glue_ctx),
            ruleset='Rules = [ColumnValues "id" > 0, IsUnique "id"]',
            additional_options={"performanceTuning.caching": caching},
        )
        return counted.value

    assert times_computed("CACHE_INPUT") == 4
    assert times_computed("CACHE_NOTHING") > 4


def test_a_script_keeps_its_own_view_primary(evaluated, people):
    spark = people.toDF().sparkSession
    spark.range(7).createOrReplaceTempView("primary")

    evaluated('CustomSql "select count(*) from primary" = 4')

    assert spark.table("primary").count() == 7
    spark.catalog.dropTempView("primary")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"publishing_options": ["x"]}, "publishing_options .* allowed: a dict"),
        (
            {"additional_options": {"compositeRuleEvaluation.method": "TABLE"}},
            "method 'TABLE'; allowed: COLUMN, ROW",
        ),
        (
            {"publishing_options": {"enableDataQualityCloudWatchMetrics": "on"}},
            "Metrics 'on'; allowed: True, False",
        ),
        ({"additional_data_sources": {"ref": 1}}, "got int as ref; allowed: a DynamicFrame"),
    ],
)
def test_a_wrong_option_is_refused(evaluated, options, named):
    with pytest.raises(UsageError, match=named):
        evaluated("RowCount > 1", **options)


def test_a_wrong_where_clause_is_refused_as_on_aws(evaluated):
    with pytest.raises(
        UsageError, match=r'^Rule IsComplete "id" where "nope > 1" has provided an invalid where'
    ):
        evaluated('IsComplete "id" where "nope > 1"')
