"""Parameters of our awsglue against those of AWS's library (tests/data/awsglue_api.json).

The data hold every public name of awslabs/aws-glue-libs, with the parameters of what is called.
"""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path

import pytest

from tidemark.local_glue.unsupported.refusals import NotYet, NotYetMember

EVERY = json.loads(
    (Path(__file__).parents[3] / "data" / "awsglue_api.json").read_text(encoding="utf-8")
)
MODULES = (
    *("awsglue.context", "awsglue.data_sink", "awsglue.data_source"),
    *("awsglue.dataframereader", "awsglue.dataframewriter"),
    *("awsglue.dataframe_transforms.apply_mapping", "awsglue.functions"),
    *("awsglue.dynamicframe", "awsglue.gluetypes", "awsglue.job", "awsglue.utils"),
    *("awsglue.transforms.apply_mapping", "awsglue.transforms.coalesce"),
    *("awsglue.transforms.collection_transforms", "awsglue.transforms.drop_nulls"),
    *("awsglue.transforms.dynamicframe_filter", "awsglue.transforms.dynamicframe_map"),
    *("awsglue.transforms.errors_as_dynamicframe", "awsglue.transforms.field_transforms"),
    *("awsglue.transforms.relationalize", "awsglue.transforms.repartition"),
    *("awsglue.transforms.resolve_choice", "awsglue.transforms.transform"),
    *("awsglue.transforms.unbox", "awsglue.transforms.union", "awsglue.transforms.unnest_frame"),
)
OUR_NAMES: dict[str, dict[str, str]] = {}


def our_functions() -> dict[str, object]:
    """Return every public function and method that our modules define, with their __init__."""
    found = {}
    for module in MODULES:
        for name, value in vars(importlib.import_module(module)).items():
            is_ours = not isinstance(value, NotYet) and getattr(value, "__module__", "") == module
            is_ours &= inspect.isroutine(value) or inspect.isclass(value)
            if is_ours and not name.startswith("_"):
                own = methods(value) if inspect.isclass(value) else {"": value}
                found |= {f"{module}.{name}{member}": method for member, method in own.items()}
    return found


def methods(owner: type) -> dict[str, object]:
    """Return the methods that a class defines itself, by name with a dot before it."""
    called = ("__init__", "__call__")
    own = {name for name, value in vars(owner).items() if not isinstance(value, NotYetMember)}
    names = [name for name in sorted(own) if name in called or not name.startswith("_")]
    members = {f".{name}": getattr(owner, name) for name in names}
    return {name: member for name, member in members.items() if inspect.isroutine(member)}


OURS = our_functions()
API = {name: parameters for name, parameters in EVERY.items() if name in OURS}


def parameters(function: object) -> dict[str, inspect.Parameter]:
    found = dict(inspect.signature(function).parameters)
    found.pop("self", None)
    return found


def test_everything_of_ours_is_a_name_of_aws():
    assert set(OURS) - set(API) == set()


@pytest.mark.parametrize("name", sorted(API))
def test_our_parameters_are_the_first_ones_of_aws_in_the_same_order(name):
    renamed = OUR_NAMES.get(name, {})
    theirs = [renamed.get(p, p) for p in API[name] if not p.startswith("*")]

    ours = [p.name for p in parameters(OURS[name]).values() if p.kind is p.POSITIONAL_OR_KEYWORD]

    assert ours == theirs[: len(ours)]


@pytest.mark.parametrize("name", sorted(API))
def test_parameter_that_ours_lacks_cannot_be_passed_unless_it_is_refused_by_name(name):
    """Functions that take any keyword refuse it themselves; see test_unsupported.py."""
    ours = parameters(OURS[name])
    renamed = OUR_NAMES.get(name, {})
    missing = [p for p in API[name] if not p.startswith("*") and renamed.get(p, p) not in ours]

    for parameter in missing:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{parameter}'"):
            inspect.signature(OURS[name]).bind_partial(**{parameter: None})


def test_functions_that_take_any_keyword_are_known():
    assert {
        name
        for name, function in OURS.items()
        if any(p.kind is p.VAR_KEYWORD for p in parameters(function).values())
    } == {
        "awsglue.context.GlueContext.__init__",
        "awsglue.context.GlueContext.create_data_frame_from_catalog",
        "awsglue.context.GlueContext.create_data_frame_from_options",
        "awsglue.context.GlueContext.create_dynamic_frame_from_catalog",
        "awsglue.context.GlueContext.create_dynamic_frame_from_options",
        "awsglue.context.GlueContext.getSink",
        "awsglue.context.GlueContext.getSource",
        "awsglue.context.GlueContext.write_data_frame_from_catalog",
        "awsglue.context.GlueContext.write_dynamic_frame_from_catalog",
        "awsglue.context.GlueContext.write_from_options",
        "awsglue.data_sink.DataSink.setFormat",
        "awsglue.data_source.DataSource.getFrame",
        "awsglue.data_source.DataSource.setFormat",
        "awsglue.dataframereader.DataFrameReader.from_catalog",
        "awsglue.dataframereader.DataFrameReader.from_options",
        "awsglue.dataframewriter.DataFrameWriter.from_catalog",
        "awsglue.dynamicframe.DynamicFrameReader.from_catalog",
        "awsglue.dynamicframe.DynamicFrameReader.from_options",
        "awsglue.dynamicframe.DynamicFrameWriter.from_catalog",
        "awsglue.dynamicframe.DynamicFrame.applyMapping",
        "awsglue.dynamicframe.DynamicFrame.unbox",
        "awsglue.transforms.collection_transforms.FlatMap.__call__",
        "awsglue.transforms.transform.GlueTransform.apply",
        "awsglue.transforms.unbox.Unbox.__call__",
    }
