"""Every name of AWS's library is here with AWS's parameters, or the coverage data say it raises."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import awsglue
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrameReader
from awsglue.transforms import ApplyMapping
from tidemark.glue_job.refusals import NotYet, NotYetMember
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.model.awsglue_api.not_yet import DIFFERS
from tidemark.model.awsglue_api.table import Coverage, entries

HERE = [one for one in entries() if one.state is not Coverage.RAISES]
# Attributes that an instance gets when it is made; the tests of each class use them.
ON_INSTANCES = {
    "GlueContext.create_dynamic_frame",
    "GlueContext.create_data_frame",
    "GlueContext.write_dynamic_frame",
    "GlueContext.write_data_frame",
    "GlueContext.spark_session",
}
# What came with Glue 6.0, in runs of older versions.
LATER_SIGNATURES = (
    {} if own_glue_version() == "6.0" else {"awsglue.utils.getResolvedOptions": "args, options"}
)
AT_RUN_TIME = object()  # an attribute that instances have


class Missing:
    """The value of a name that is not here."""


def value_of(entry):
    """Return what a name stands for here."""
    value = importlib.import_module(entry.module)
    for part in entry.name.split("."):
        owner, value = value, getattr(value, part, Missing())
        if isinstance(value, Missing) and inspect.isclass(owner) and is_set_by_init(owner, part):
            return AT_RUN_TIME
    return value


def is_set_by_init(owner, member):
    if f"{owner.__name__}.{member}" in ON_INSTANCES:
        return True
    sources = [inspect.getsource(one) for one in owner.__mro__ if one.__module__ != "builtins"]
    return any(f"self.{member}{end}" in source for source in sources for end in (":", ",", " ="))


def parameters_of(text):
    """Return name, kind and default of each parameter that a text lists."""
    arguments = ast.parse(f"def f({text}): pass").body[0].args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults]
    found = [(one.arg, "", default) for one, default in zip(plain, defaults, strict=True)]
    found += [(arguments.vararg.arg, "*", None)] if arguments.vararg else []
    found += [(arguments.kwarg.arg, "**", None)] if arguments.kwarg else []
    return [(name, kind, default and ast.unparse(default)) for name, kind, default in found]


def our_parameters(function):
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    kinds = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [(one.name, kinds.get(one.kind, ""), one.default) for one in parameters]


def is_same_default(theirs, ours):
    """Return whether a default is the same; None stands for a container that calls would share."""
    if theirs is None:
        return ours is inspect.Parameter.empty
    if theirs in ("{}", "[]"):
        return ours is None or ours in ({}, [], ())
    return theirs in (repr(ours), str(ours)) or theirs.endswith("()")


def wrong(entry):
    """Return how a name departs from AWS's, None if it does not."""
    value = value_of(entry)
    if isinstance(value, (NotYet, Missing)):
        return "is not here"
    if entry.signature is None or value is AT_RUN_TIME:
        return None
    theirs = parameters_of(LATER_SIGNATURES.get(entry.full_name, entry.signature))
    ours = our_parameters(value)
    if [one[:2] for one in ours] != [one[:2] for one in theirs]:
        return f"has {ours}"
    defaults = zip(theirs, ours, strict=True)
    return next((f"{a} is {b}" for a, b in defaults if not is_same_default(a[2], b[2])), None)


def test_what_runs_is_here_with_the_parameters_of_aws():
    found = {one.full_name: wrong(one) for one in HERE}

    assert len(found) > 400
    assert {name: text for name, text in found.items() if text} == {}


def test_every_difference_is_of_a_name_that_runs():
    assert set(DIFFERS) - {one.full_name for one in HERE} == set()


def our_modules():
    root = Path(awsglue.__file__).parent
    files = (path.relative_to(root).with_suffix("") for path in root.rglob("*.py"))
    return {"awsglue" + "".join(f".{part}" for part in file.parts) for file in files}


def test_there_is_no_module_and_no_public_name_that_aws_has_not():
    """A script that uses one would run here and fail on AWS."""
    known = {one.full_name for one in entries()} | {one.module for one in entries()}
    found = set()
    for module in {name.removesuffix(".__init__") for name in our_modules()}:
        found.add(module)
        for name, value in vars(importlib.import_module(module)).items():
            is_ours = not isinstance(value, NotYet) and getattr(value, "__module__", "") == module
            if is_ours and not name.startswith("_"):
                found |= {f"{module}.{name}{member}" for member in members(value)}

    assert found - known == set()


def members(value):
    """Return the public methods that a class defines itself, and itself: the empty text."""
    if not inspect.isclass(value):
        return [""]
    own = [
        name
        for name, one in vars(value).items()
        if not name.startswith(("_", "gs_"))
        and inspect.isroutine(one)
        and not isinstance(one, NotYetMember)
    ]
    return ["", *(f".{name}" for name in own)]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (DynamicFrameReader(None).from_options, "DynamicFrameReader.from_options() missing a"),
        (
            lambda: GlueContext.write_dynamic_frame_from_options(None, None, "s3", junk=1),
            "GlueContext.write_dynamic_frame_from_options() got an unexpected",
        ),
        (
            lambda: ApplyMapping.apply(None),
            "ApplyMapping() missing a required argument: 'mappings'",
        ),
    ],
)
def test_an_error_of_wrong_arguments_names_what_the_script_calls(call, error):
    with pytest.raises(TypeError, match=re.escape(error)):
        call()


def test_a_transform_calls_itself_by_the_name_of_its_method():
    assert ApplyMapping.__call__.__name__ == "__call__"
