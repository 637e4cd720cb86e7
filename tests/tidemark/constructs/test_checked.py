"""A call with another argument than the signature has, or one of another type, is refused."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, is_typeddict

import pytest
from aws_cdk import Stack
from aws_cdk import aws_s3 as s3

import tidemark.constructs as tc
from tidemark.errors import InputError

pytestmark = pytest.mark.synth

PROJECT = Path(__file__).parents[3]


def leaves(hint):
    """Return the members of a union, each as its class or the class that it is an alias of."""
    if get_origin(hint) in (Union, UnionType):
        return {leaf for one in get_args(hint) for leaf in leaves(one)}
    return {dict if is_typeddict(hint) else get_origin(hint) or hint}


# A value, and of what annotations it is right.
VALUES = [
    (None, {NoneType}),
    (True, {bool}),
    (7, {int, float}),
    (1.5, {float}),
    ("text", {str}),
    (b"bytes", {}),
    ({"a set"}, {}),
    ((one for one in "generator"), {}),
    (object(), {}),
    ([object()], {}),
    ({1: object()}, {dict}),
    (Enum, {}),
    (Enum("Other", ["ENABLE"]).ENABLE, {}),
]


def right(hint):
    """Return a value that an annotation allows; it need not work."""
    origin = get_origin(hint)
    if origin in (Union, UnionType, Literal):
        return right(get_args(hint)[0]) if origin is not Literal else get_args(hint)[0]
    for kinds, value in (((Sequence, tuple), ()), ((Mapping, dict), {}), ((Callable,), print)):
        if origin in kinds or (is_typeddict(hint) and dict in kinds):
            return value
    if hint in (str, bool, int, float, Any, Path):
        return Path() if hint is Path else None if hint is Any else hint(1)
    if issubclass(hint, Enum):
        return next(iter(hint))
    if getattr(hint, "_is_protocol", False):
        names = [name for base in hint.__mro__ for name in vars(base) if not name.startswith("_")]
        return type("Fake", (), dict.fromkeys(names))()
    return object.__new__(hint)


def calls():
    """Return what is called by the public names: classes, and their methods that are checked."""
    found = {}
    for name in tc.__all__:
        public = getattr(tc, name)
        for owner in getattr(public, "__mro__", ()):
            for method in vars(owner).values():
                call = getattr(method, "__func__", method)
                if hasattr(call, "_is_checked"):
                    found[call.__qualname__] = (owner, call)
    return found


CALLS = calls()
OURS = {name: it for name, it in CALLS.items() if it[1].__module__.startswith("tidemark.con")}


def parameters_of(call):
    """Return the parameters but `self` or `cls`, and the names of those that there must be."""
    _, *found = inspect.signature(call).parameters.values()
    return found, [one for one in found if one.default is inspect.Parameter.empty]


def test_every_public_class_and_what_it_offers_is_checked():
    classes = [getattr(tc, name) for name in tc.__all__]
    called = [one for one in classes if isinstance(one, type) and not issubclass(one, Enum)]

    assert all(hasattr(one.__init__, "_is_checked") for one in called)
    assert {"Pipeline.add_job", "TableFormat.csv", "WatermarkTable.from_table_arn"} <= set(CALLS)


def test_a_class_that_is_imported_by_its_own_module_checks_itself():
    call = "JobOptions(max_concurrent_runs=True)"
    given = f"from tidemark.constructs.jobs.job_options import JobOptions; {call}"

    ended = subprocess.run(
        [sys.executable, "-c", given], capture_output=True, text=True, cwd=PROJECT, check=False
    )

    assert "JobOptions has max_concurrent_runs True; allowed: an integer" in ended.stderr


def test_a_dataclass_that_is_made_of_one_is_checked_as_that_one():
    @dataclass(frozen=True)
    class Landed(tc.Dataset):
        owner: str = "sales"

        def __post_init__(self) -> None:
            """Replace the checks."""

    class Older(Landed):
        pass

    lake = s3.Bucket.from_bucket_name(Stack(), "Lake", "lake")
    assert Landed(lake, "orders/", owner="web").uri == "s3://lake/orders/"
    for kind in (Landed, Older):
        with pytest.raises(InputError, match="dataset prefix 'orders' is not a folder"):
            kind(lake, "orders")
        with pytest.raises(InputError, match="Dataset has bucket 'lake'; allowed: a bucket"):
            kind("lake", "orders/")


@pytest.mark.parametrize("name", OURS)
def test_a_value_of_another_type_is_refused_in_one_line_that_names_it(name):
    owner, call = OURS[name]
    parameters, required = parameters_of(call)
    given = {one.name: right(one.annotation) for one in required}

    for one in parameters:
        for value, kinds in VALUES:
            if leaves(one.annotation).isdisjoint(kinds) and not one.name.startswith("_"):
                with pytest.raises(InputError, match=rf"has {one.name} .*; allowed: \S") as refused:
                    call(object.__new__(owner), **{**given, one.name: value})
                assert re.fullmatch(rf".*; correct {one.name}=", str(refused.value))


@pytest.mark.parametrize(
    ("hint", "wrong"),
    [
        (Sequence[str], "ab"),
        (Sequence[str], ["a", 1]),
        (Sequence[str | int], [True]),
        (Mapping[str, str], {"a": 1}),
        (tuple[int, ...], [1]),
        (int, True),
        (float, False),
        (int, IntEnum("Runs", {"TWO": 2}).TWO),
        (bool, 1),
        (Literal[False], 0),
        (tc.Dataset.__init__.__signature__.parameters["bucket"].annotation, s3.Bucket),
    ],
)
def test_what_python_would_take_is_refused_all_the_same(hint, wrong):
    from tidemark.model.checked import accepts

    assert not accepts(wrong, hint)
    assert accepts(right(hint), hint)


def test_the_examples_in_its_docstrings_hold():
    from tidemark.model import checked

    assert doctest.testmod(checked).failed == 0


def test_no_value_of_a_dict_is_shown_since_it_may_be_a_secret():
    with pytest.raises(InputError, match="has arguments with 'password': bytes; allowed") as told:
        tc.ActionOptions(arguments={"user": "me", "password": b"hunter2"})

    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize(
    ("declare", "text"),
    [
        (lambda late: tc.JobRuntime(timeout_minutes=late.as_number({"Ref": "N"})), "a number"),
        (lambda late: tc.JobOptions(non_overridable=late.as_list({"Ref": "N"})), "a list"),
        (lambda late: tc.ActionOptions({late.as_string({"Ref": "N"}): "x"}), "a key"),
    ],
)
def test_what_only_a_deployment_knows_is_refused_where_the_code_must_know_it(declare, text):
    import aws_cdk

    with pytest.raises(InputError, match=f"with {text} that only the deployment knows") as refused:
        declare(aws_cdk.Token)

    assert "e+2" not in str(refused.value)


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_argument_is_told_with_those_there_are(name):
    owner, call = CALLS[name]
    parameters, required = parameters_of(call)
    if not parameters:
        return

    with pytest.raises(InputError, match=f"{parameters[-1].name!r}") as told:
        call(object.__new__(owner), **{f"{parameters[-1].name}x": 1})

    assert "did you mean" in str(told.value)
    assert "\n" not in str(told.value)
    if required:
        with pytest.raises(TypeError, match=f"missing a required argument: '{required[0].name}'"):
            call(object.__new__(owner))


def test_a_slip_is_told_with_all_that_is_allowed():
    with pytest.raises(InputError, match="add_job has no argument 'reeds'; did you mean 'reads'"):
        tc.Pipeline.add_job(object(), "orders", reeds=[])
    with pytest.raises(
        InputError, match="add_crawler has no argument 'zzz'; allowed: name, targets"
    ):
        tc.Pipeline.add_crawler(object(), "orders", zzz="x")


CALLS_OF_A_USER = """
add_job("orders", script="job.py", bookmark=BookmarkOption.ENABLE, watermark=True)
add_job("orders", script="job.py", bookmark=BookmarkOption.ENABLE, reeds=[])
add_job("orders", script="job.py")
add_job("orders", script="job.py", bookmark="ENABLE")
add_shell_job("orders", script="job.py", watermark=True)
add_streaming_job("orders", script="job.py", checkpoint="s3://x/")
"""


@pytest.mark.nightly
@pytest.mark.stress  # a type checker without a cache takes its time
def test_a_type_checker_finds_them_too(tmp_path):
    head = "from tidemark.constructs import BookmarkOption, Pipeline\npipeline: Pipeline\n"
    lines = [f"pipeline.{call}" for call in CALLS_OF_A_USER.split("\n")[1:-1]]
    (tmp_path / "calls.py").write_text(head + "\n".join(lines))
    (tmp_path / "mypy.ini").write_text(  # the CDK alone would take a minute
        "[mypy]\nstrict=true\nfollow_imports=silent\nmypy_path=libs\nexplicit_package_bases=true\n"
        "[mypy-aws_cdk.*]\nfollow_imports=skip\n"
    )

    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", tmp_path / "mypy.ini",
         "--cache-dir", tmp_path / "cache", tmp_path / "calls.py"],
        capture_output=True, text=True, cwd=PROJECT, check=False,
    )  # fmt: skip

    assert re.findall(r"calls\.py:(\d+): error", found.stdout) == ["4", "5", "6", "7", "8"]
