"""Every public name of AWS's awsglue is here, or is refused by name where a script uses it."""

from __future__ import annotations

import importlib
import inspect
import pickle
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock, create_autospec

import pytest
from pyspark import cloudpickle

import awsglue
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from tidemark.errors import UnsupportedError
from tidemark.model.awsglue_api.not_yet import NOT_YET, members_of, names_of
from tidemark.model.awsglue_api.table import Coverage, entries

RAISES = [one for one in entries() if one.state is Coverage.RAISES]


def is_refused(use):
    try:
        use()
    except NotImplementedError as error:
        return "does not run locally yet; " in str(error)
    return False


def is_here_and_refused(entry):
    owner, _, member = entry.name.partition(".")
    value = getattr(importlib.import_module(entry.module), owner)
    is_public = member and member[0] != "_" and entry.signature is not None
    return is_refused(lambda: getattr(value, member)() if is_public else value())


def test_what_does_not_run_can_be_imported_and_is_refused_by_name():
    assert [one.full_name for one in RAISES if not is_here_and_refused(one)] == []


@pytest.mark.parametrize("module", sorted(NOT_YET))
def test_every_refused_name_is_one_of_aws_and_is_not_here(module):
    space = vars(importlib.import_module(module))
    known = {one.full_name for one in RAISES}

    for name in names_of(module):
        assert not module.startswith("awsglue.") or f"{module}.{name}" in known
        assert is_refused(space[name]), name
    for owner in NOT_YET[module]:
        for member in members_of(module, owner):
            assert f"{module}.{owner}.{member}" in known
            assert is_refused(getattr(space[owner], member)), member


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("from awsglue.devutils import *\nGlueJobUtils.create(f=1)", "GlueJobUtils.create"),
        ("from awsglue.devutils import Command\nCommand.apply(f=1)", "Command.apply"),
        (
            "import awsglue, gs_lookup\nawsglue.DynamicFrame.gs_lookup(1)",
            "DynamicFrame.gs_lookup",
        ),
        (
            "from awsgluedi.transforms import *\npii.Hash.apply()",
            "pii.Hash",
        ),
        ("import awsglue.devutils as d\nd.Connections()", "Connections"),
        ("from awsglue.devutils import Job\nclass Mine(Job): pass", "Job"),
        ("from awsglue.scripts.scripts_utils import *\nlist(DEFAULT_REGION)", "DEFAULT_REGION"),
        ("from awsglue.scripts.crawler_undo import main\nmain()", "main"),
    ],
)
def test_imports_succeed_and_the_use_is_refused_at_its_line(script, named):
    imports, use = script.split("\n")
    space = {}
    exec(imports, space)  # noqa: S102 (as a script does)

    with pytest.raises(UnsupportedError, match=rf"^{named} does not run locally yet; \w+"):
        exec(use, space)  # noqa: S102


def test_a_star_import_brings_every_transform_of_aws():
    space = {}
    exec("from awsglue.transforms import *", space)  # noqa: S102

    names = {
        transform.__name__
        for transform in importlib.import_module("awsglue.transforms").ALL_TRANSFORMS
    }
    of_aws = {
        one.name
        for one in entries()
        if one.module == "awsglue.transforms" and one.name[0].isupper()
    }
    assert of_aws - {"ALL_TRANSFORMS", "GlueTransform"} == names
    assert {*names, "GlueTransform"} <= set(space)


@pytest.mark.parametrize(
    ("owner", "member", "text"),
    [
        (GlueContext, "getStreamingSource", "GlueContext.getStreamingSource .* as a batch"),
        (GlueContext, "convert_resolve_option", "GlueContext.convert_resolve_option .* JVM"),
        (GlueContext, "start_transaction", "GlueContext.start_transaction "),
    ],
)
def test_a_member_is_refused_on_the_class_and_on_an_instance(owner, member, text):
    for one in (owner, object.__new__(owner)):
        with pytest.raises(UnsupportedError, match=text):
            getattr(one, member)()


@pytest.mark.parametrize("owner", [GlueContext, DynamicFrame, Job])
def test_looking_at_a_class_is_no_use_of_its_members(owner):
    assert inspect.getmembers(owner)
    for mock in (MagicMock(spec=owner), create_autospec(owner)):
        assert all(hasattr(mock, name) for name in dir(owner) if not name.startswith("_"))


@pytest.mark.parametrize("name", ["Command", "GlueJobUtils"])
def test_a_stand_in_travels_to_the_workers_of_spark(name):
    stand_in = getattr(importlib.import_module("awsglue.devutils"), name)

    assert pickle.loads(pickle.dumps(stand_in)) is stand_in  # noqa: S301 (its own)
    assert cloudpickle.loads(cloudpickle.dumps(lambda: stand_in))() is stand_in


def test_a_member_of_a_member_is_refused_with_the_remedy_of_its_owner():
    with pytest.raises(UnsupportedError, match=r"^GlueContext.getStreamingSource.of does .* batch"):
        GlueContext.getStreamingSource.of(1)
    with pytest.raises(UnsupportedError, match=r"^GlueContext.start_transaction does not run"):
        bool(GlueContext.start_transaction)


def test_a_name_that_aws_does_not_have_either_is_an_ordinary_error():
    with pytest.raises(AttributeError):
        _ = object.__new__(DynamicFrame).resolveChoise
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("awsglue.gluetype")
    with pytest.raises(ImportError):
        exec("from awsglue.transforms import ApplyMaping")  # noqa: S102


def test_the_stand_ins_cost_no_import_of_their_own():
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]; import tidemark.glue_job.refusals; "
        "print([m for m in sys.modules if m.startswith(('pyspark', 'boto'))])"
    )
    root = Path(awsglue.__file__).parents[4]

    run = subprocess.run(
        [sys.executable, "-c", program, str(root)], capture_output=True, text=True, check=True
    )

    assert run.stdout.strip() == "[]"
