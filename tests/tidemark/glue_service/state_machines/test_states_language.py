"""The Amazon States Language: what states make of their input, by JSONPath and by JSONata.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/concepts-amazon-states-language.html
"""

from __future__ import annotations

import json

import pytest

from tests.tidemark.glue_service.state_machines.conftest import END, PASS, steps, task

YES, NO = {**PASS, "Result": "yes"}, {**PASS, "Result": "no"}
MAP = {"Type": "Map", "ItemsPath": "$.xs", **END}
FAIL = {"Type": "Fail", "Error": "E", "Cause": "c"}
ALL = [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]


def one(**members):
    return steps("A", A={**PASS, **members})


def choose(rule):
    choice = {"Type": "Choice", "Choices": [{**rule, "Next": "Y"}], "Default": "N"}
    return steps("C", C=choice, Y=YES, N=NO)


def jsonata(start, **states):
    return {"QueryLanguage": "JSONata", **steps(start, **states)}


INTRINSICS = {
    "array.$": "States.Array('a', $.n, true)",
    "parts.$": "States.ArrayPartition($.xs, 2)",
    "contains.$": "States.ArrayContains($.xs, 3)",
    "range.$": "States.ArrayRange(1, 9, 2)",
    "item.$": "States.ArrayGetItem($.xs, 1)",
    "unique.$": "States.ArrayUnique($.xs)",
    "encoded.$": "States.Base64Encode('hi')",
    "parsed.$": "States.StringToJson($.text)",
    "merged.$": "States.JsonMerge($.o, $.p, false)",
    "added.$": "States.MathAdd($.n, -1)",
    "split.$": "States.StringSplit('a,b;c', ',;')",
    "nested.$": "States.Format('{}', States.MathAdd(1, States.ArrayLength($.xs)))",
    "quoted.$": "States.Format('\\{{}\\} {}', $.n, 'x\\'y')",
}
CASES = {
    "input path": (one(InputPath="$.a", Result=5, ResultPath="$.r"), {"a": 1}, {"a": 1, "r": 5}),
    "no input": (one(InputPath=None), {"a": 1}, {}),
    "output path": (one(OutputPath="$.a.b"), {"a": {"b": [1]}}, [1]),
    "no result": (one(Result=1, ResultPath=None), {"a": 1}, {"a": 1}),
    "intrinsics": (
        one(Parameters=INTRINSICS),
        {"n": 5, "xs": [1, 2, 3], "text": '{"q": 1}', "o": {"k": "v"}, "p": {"z": 1}},
        {
            "array": ["a", 5, True],
            "parts": [[1, 2], [3]],
            "contains": True,
            "range": [1, 3, 5, 7, 9],
            "item": 2,
            "unique": [1, 2, 3],
            "encoded": "aGk=",
            "parsed": {"q": 1},
            "merged": {"k": "v", "z": 1},
            "added": 4,
            "split": ["a", "b", "c"],
            "nested": "4",
            "quoted": "{5} x'y",
        },
    ),
    "escapes": (one(Result={"a": 'say "hi"\n\té \\'}), {}, {"a": 'say "hi"\n\té \\'}),
    "and or not": (
        choose(
            {
                "And": [
                    {"Variable": "$.a", "IsPresent": True},
                    {"Not": {"Variable": "$.a", "StringEquals": "x"}},
                    {"Or": [{"Variable": "$.a", "StringMatches": "f*o"}]},
                ]
            }
        ),
        {"a": "foo"},
        "yes",
    ),
    "a guard": (
        choose(
            {
                "And": [
                    {"Variable": "$.none", "IsPresent": True},
                    {"Variable": "$.none", "StringEquals": "x"},
                ]
            }
        ),
        {},
        "no",
    ),
    "a missing value": (choose({"Variable": "$.none", "StringEquals": "x"}), {}, "!States.Runtime"),
    "a path": (choose({"Variable": "$.a", "NumericLessThanPath": "$.b"}), {"a": 1, "b": 2}, "yes"),
    "a time": (
        choose({"Variable": "$.t", "TimestampGreaterThan": "2020-01-01T00:00:00Z"}),
        {"t": "2021-01-01T00:00:00Z"},
        "yes",
    ),
    "a missing path": (one(Parameters={"x.$": "$.none"}), {}, "!States.Runtime"),
    "variables": (
        steps(
            "A",
            A={"Type": "Pass", "Assign": {"x.$": "$.a"}, "Next": "P"},
            P={
                "Type": "Parallel",
                "Branches": [steps("B", B={**PASS, "Parameters": {"v.$": "$x"}})],
                **END,
            },
        ),
        {"a": 1},
        [{"v": 1}],
    ),
    "a path into a variable": (
        steps(
            "A",
            A={"Type": "Pass", "Assign": {"x.$": "$.a"}, "Next": "B"},
            B={**PASS, "Parameters": {"v.$": "$x['--day']", "all.$": "$x.n[*].k", "x.$": "$x"}},
        ),
        {"a": {"--day": 1, "n": [{"k": 2}, {"k": 3}]}},
        {"v": 1, "all": [2, 3], "x": {"--day": 1, "n": [{"k": 2}, {"k": 3}]}},
    ),
    "a missing path into a variable": (
        steps(
            "A",
            A={"Type": "Pass", "Assign": {"x.$": "$.a"}, "Next": "B"},
            B={**PASS, "Parameters": {"v.$": "$x.none"}},
        ),
        {"a": {}},
        "!States.Runtime",
    ),
    "map": (
        steps(
            "M",
            M={
                **MAP,
                "ItemSelector": {"v.$": "$$.Map.Item.Value", "i.$": "$$.Map.Item.Index"},
                "ResultSelector": {"n.$": "States.ArrayLength($)", "all.$": "$"},
                "ItemProcessor": {"ProcessorConfig": {"Mode": "INLINE"}, **one()},
            },
        ),
        {"xs": ["a"]},
        {"n": 1, "all": [{"v": "a", "i": 0}]},
    ),
    "an empty map": (steps("M", M={**MAP, "ItemProcessor": one()}), {"xs": []}, []),
    "a caught map": (
        steps(
            "M",
            M={
                **MAP,
                "ItemProcessor": steps("F", F=FAIL),
                "Catch": [{**ALL[0], "ResultPath": "$.e"}],
            },
            Caught=PASS,
        ),
        {"xs": [1]},
        {"xs": [1], "e": {"Error": "E", "Cause": "c"}},
    ),
    "nested branches": (
        steps(
            "M",
            M={
                **MAP,
                "ItemProcessor": steps(
                    "P",
                    P={
                        "Type": "Parallel",
                        "Branches": [one(), steps("B", B={**PASS, "Result": 0})],
                        **END,
                    },
                ),
            },
        ),
        {"xs": [1, 2]},
        [[1, 0], [2, 0]],
    ),
    "an error by paths": (
        steps("F", F={"Type": "Fail", "ErrorPath": "$.e", "CausePath": "$.c"}),
        {"e": "Own", "c": "why"},
        "!Own",
    ),
    "a wait until then": (
        steps("W", W={"Type": "Wait", "TimestampPath": "$.t", **END}),
        {"t": "2020-01-01T01:00:00+01:00"},
        {"t": "2020-01-01T01:00:00+01:00"},
    ),
    "an error of S3": (
        steps(
            "A",
            A=task("aws-sdk:s3:getObject", Parameters={"Bucket": "no", "Key": "k"}, Catch=ALL),
            Caught={**PASS, "OutputPath": "$.Error"},
        ),
        {},
        "S3.NoSuchBucketException",
    ),
    "jsonata choice": (
        jsonata(
            "C",
            C={
                "Type": "Choice",
                "Choices": [
                    {
                        "Condition": "{% $states.input.n > 1 %}",
                        "Assign": {"q": "{% $states.input.n %}"},
                        "Next": "Y",
                    }
                ],
                "Default": "Y",
            },
            Y={**PASS, "Output": "{% $q %}"},
        ),
        {"n": 2},
        2,
    ),
    "jsonata map": (
        jsonata(
            "M",
            M={
                "Type": "Map",
                "Items": "{% $states.input.xs[n > 1].n %}",
                "ItemSelector": {"v": "{% $states.context.Map.Item.Value * 2 %}"},
                "ItemProcessor": steps("A", A={**PASS, "Output": "{% $states.input.v + 1 %}"}),
                "Output": "{% $sum($states.result) %}",
                **END,
            },
        ),
        {"xs": [{"n": 1}, {"n": 2}, {"n": 3}]},
        12,
    ),
    "jsonata functions": (
        jsonata(
            "A",
            A={
                **PASS,
                "Output": {
                    "range": "{% $range(0, 4, 2) %}",
                    "parts": "{% $partition([1, 2, 3], 2) %}",
                    "hash": "{% $hash('a', 'MD5') %}",
                    "parsed": "{% $parse('{\"a\": 1}').a %}",
                    "uuid": "{% $length($uuid()) %}",
                    "century": "{% $substring($now(), 0, 2) %}",
                },
            },
        ),
        {},
        {
            "range": [0, 2, 4],
            "parts": [[1, 2], [3]],
            "hash": "0cc175b9c0f1b6a831c399e269772661",
            "parsed": 1,
            "uuid": 36,
            "century": "20",
        },
    ),
    "a jsonata error": (
        jsonata(
            "A",
            A=task(
                "aws-sdk:glue:getJob",
                Arguments={"JobName": "{% $boom() %}"},
                Catch=[
                    {
                        "ErrorEquals": ["States.QueryEvaluationError"],
                        "Output": "caught",
                        "Next": "Caught",
                    }
                ],
            ),
            Caught=PASS,
        ),
        {},
        "caught",
    ),
    "both languages": (
        steps(
            "A",
            A={
                "Type": "Pass",
                "QueryLanguage": "JSONata",
                "Output": {"v": "{% $states.input.n * 2 %}"},
                "Next": "B",
            },
            B={**PASS, "Parameters": {"w.$": "$.v"}},
        ),
        {"n": 4},
        {"w": 8},
    ),
}


MISSING_JOB = {"JobName.$": "$.none"}
TIMES = {"t": "2026-01-01T00:00:00Z", "u": "2026-01-01T01:00:00.000+01:00", "s": "a*c"}


def caught(error, **members):
    handler = [{"ErrorEquals": [error], "Next": "Caught"}]
    state = task("aws-sdk:glue:getJob", Parameters={"JobName": "x"}, Catch=handler)
    return steps("A", A={**state, **members}, Caught={**PASS, "Result": "caught"})


def rule(operator, value, variable="$.t"):
    return choose({"Variable": variable, operator: value})


OTHER_CASES = {
    "one instant": (rule("TimestampEqualsPath", "$.u"), TIMES, "yes"),
    "a fraction of a second": (
        rule("TimestampLessThan", "2026-01-01T00:00:00.001Z"),
        TIMES,
        "yes",
    ),
    "a time with an offset": (rule("IsTimestamp", True, "$.u"), TIMES, "yes"),
    "a text is no time": (rule("TimestampLessThan", "2027-01-01T00:00:00Z", "$.s"), TIMES, "no"),
    "times of the execution": (
        rule("TimestampLessThanEqualsPath", "$$.State.EnteredTime", "$$.Execution.StartTime"),
        {},
        "yes",
    ),
    "a star that is escaped": (rule("StringMatches", "a\\*c", "$.s"), TIMES, "yes"),
    "one wildcard": (rule("StringMatches", "a?c", "$.s"), TIMES, "no"),
    "a missing variable": (rule("IsNull", True, "$.q"), TIMES, "!States.Runtime"),
    "an intrinsic function fails": (
        caught("States.IntrinsicFailure", Parameters={"JobName.$": "States.ArrayGetItem($.l, 9)"}),
        {"l": [1]},
        "caught",
    ),
    "a path fails": (caught("States.ParameterPathFailure", Parameters=MISSING_JOB), {}, "caught"),
    "a result has no place": (
        caught(
            "States.ResultPathMatchFailure",
            Resource="arn:aws:states:::aws-sdk:glue:getJobs",
            Parameters={},
            ResultPath="$.a.b",
        ),
        {"a": 1},
        "caught",
    ),
    "too much data of a branch": (
        steps(
            "P",
            P={
                "Type": "Parallel",
                "Branches": [one(Parameters={"a.$": "$.a", "b.$": "$.a"})],
                **END,
            },
        ),
        {"a": "x" * 150_000},
        "!States.DataLimitExceeded",
    ),
    "letters of other languages": (
        steps(
            "Prüfen 😀",
            **{
                "Prüfen 😀": {
                    **PASS,
                    "Parameters": {
                        "ü": "é",
                        "f.$": "States.Format('{} 😀', $['ü'])",
                        "b.$": "States.Base64Decode(States.Base64Encode($['ü']))",
                        "n.$": "$$.State.Name",
                        "r.$": "$$.State.RetryCount",
                    },
                    "ResultPath": "$['ö']",
                }
            },
        ),
        {"ü": "ñ"},
        {"ü": "ñ", "ö": {"ü": "é", "f": "ñ 😀", "b": "ñ", "n": "Prüfen 😀", "r": 0}},
    ),
    "a quotation mark in a name": (
        steps('a"b\\', **{'a"b\\': {**PASS, "Parameters": {'k"': "v", "n.$": "$$.State.Name"}}}),
        {},
        {'k"': "v", "n": 'a"b\\'},
    ),
    "a fraction": (one(Parameters={"a.$": "States.Array(1.5)"}), {}, {"a": [1.5]}),
    "a map of no list": (
        steps("M", M={**MAP, "ItemProcessor": steps("A", A=PASS)}),
        {"xs": 5},
        "!States.Runtime",
    ),
}
CASES |= OTHER_CASES


@pytest.mark.parametrize("name", CASES)
def test_a_machine_has_the_output_of_the_language(states, name):
    definition, given, expected = CASES[name]

    answer = states.run(name.replace(" ", "-"), definition, given)

    got = json.loads(answer["output"]) if "output" in answer else f"!{answer['error']}"
    assert got == expected, answer.get("cause")
