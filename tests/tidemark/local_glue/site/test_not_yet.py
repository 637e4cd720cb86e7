"""Every public name of AWS's awsglue is here, or is refused by name where a script uses it."""

from __future__ import annotations

import importlib
import inspect
import json
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
from tidemark.local_glue.unsupported.not_yet import NOT_YET, members_of, names_of
from tidemark.local_glue.unsupported.refusals import NotYet

API = json.loads(
    (Path(__file__).parents[3] / "data" / "awsglue_api.json").read_text(encoding="utf-8")
)
# What the library of AWS has for Python 2.
OF_PYTHON_2 = {"basestring", "unicode", "long", "imap", "ifilter"}
# Attributes that an instance gets when it is made; the tests of each class use them.
OF_INSTANCES = {
    *("GlueContext.create_dynamic_frame", "GlueContext.create_data_frame"),
    *("GlueContext.write_dynamic_frame", "GlueContext.write_data_frame"),
    "GlueContext.spark_session",
}


def modules():
    """Return the modules of AWS's library with the names in each."""
    known = {module for module in NOT_YET if module.startswith("awsglue.")}
    known |= {f"awsglue.{path}" for path in our_modules()}
    found = {}
    for name in API:
        module = max((m for m in known if name.startswith(f"{m}.")), key=len, default="awsglue")
        found.setdefault(module, []).append(name.removeprefix(f"{module}."))
    return found


def our_modules():
    root = Path(awsglue.__file__).parent
    files = (path.relative_to(root).with_suffix("") for path in root.rglob("*.py"))
    return {".".join(file.parts).removesuffix(".__init__") for file in files} - {"__init__"}


def test_the_package_has_no_module_that_aws_has_not():
    """A script that imports one would run here and fail on AWS."""
    ours = {f"awsglue.{module}" for module in our_modules()}

    assert {
        name for name in ours if not any(known.startswith(f"{name}.") for known in API)
    } == set()


NAMES = [(module, name) for module, names in modules().items() for name in names]


def is_refused(use):
    try:
        use()
    except NotImplementedError as error:
        return "does not run locally yet; " in str(error)
    return False


def is_set_by_init(owner, member):
    sources = [
        inspect.getsource(one) for one in owner.__mro__ if one.__module__ == owner.__module__
    ]
    return any(f"self.{member}{end}" in source for source in sources for end in (":", ",", " ="))


def is_here_or_refused(module, name):
    owner, _, member = name.partition(".")
    if name in OF_PYTHON_2 or name in OF_INSTANCES or member.startswith("_"):
        return True
    value = getattr(importlib.import_module(module), owner)
    if isinstance(value, NotYet):
        return owner in names_of(module)
    if not member or not inspect.isclass(value):
        return owner not in names_of(module)
    if is_set_by_init(value, member):
        return True
    is_stand_in = isinstance(getattr(value, member), NotYet)
    return is_stand_in == (member in members_of(module, owner))


def test_every_name_of_aws_is_here_or_is_refused_by_name():
    assert [one for one in NAMES if not is_here_or_refused(*one)] == []


@pytest.mark.parametrize("module", sorted(NOT_YET))
def test_every_refused_name_is_one_of_aws_and_is_not_here(module):
    space = vars(importlib.import_module(module))

    for name in names_of(module):
        assert module.startswith(("awsgluedq", "awsglueml")) or f"{module}.{name}" in API
        assert is_refused(space[name]), name
    for owner in NOT_YET[module]:
        for member in members_of(module, owner):
            assert f"{module}.{owner}.{member}" in API
            assert is_refused(getattr(space[owner], member)), member


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("from awsglue.devutils import *\nGlueJobUtils.create(f=1)", "GlueJobUtils.create"),
        ("from awsglue.devutils import Command\nCommand.apply(f=1)", "Command.apply"),
        ("import awsglue.devutils as d\nd.Connections()", "Connections"),
        ("from awsglue.devutils import Job\nclass Mine(Job): pass", "Job"),
        ("from awsglue.scripts.scripts_utils import *\nlist(DEFAULT_REGION)", "DEFAULT_REGION"),
        ("from awsglue.scripts.crawler_undo import main\nmain()", "main"),
        (
            "from awsgluedq.transforms import EvaluateDataQuality\nEvaluateDataQuality.apply()",
            "EvaluateDataQuality.apply",
        ),
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
        name for module, name in NAMES if module == "awsglue.transforms" and name[0].isupper()
    }
    assert of_aws - {"ALL_TRANSFORMS", "GlueTransform"} == names
    assert {*names, "GlueTransform"} <= set(space)


@pytest.mark.parametrize(
    ("owner", "member", "text"),
    [
        (GlueContext, "getStreamingSource", "GlueContext.getStreamingSource .* as a batch"),
        (GlueContext, "forEachBatch", "GlueContext.forEachBatch .* streaming jobs"),
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
    with pytest.raises(UnsupportedError, match=r"^GlueContext.forEachBatch.of does .* as a batch"):
        GlueContext.forEachBatch.of(1)
    with pytest.raises(UnsupportedError, match=r"^Job.isInitialized does not run"):
        bool(Job.isInitialized)


def test_a_name_that_aws_does_not_have_either_is_an_ordinary_error():
    with pytest.raises(AttributeError):
        _ = object.__new__(DynamicFrame).resolveChoise
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("awsglue.gluetype")
    with pytest.raises(ImportError):
        exec("from awsglue.transforms import ApplyMaping")  # noqa: S102


def test_the_stand_ins_cost_no_import_of_their_own():
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]; import tidemark.local_glue.unsupported.refusals; "
        "print([m for m in sys.modules if m.startswith(('pyspark', 'boto'))])"
    )
    root = Path(awsglue.__file__).parents[4]

    run = subprocess.run(
        [sys.executable, "-c", program, str(root)], capture_output=True, text=True, check=True
    )

    assert run.stdout.strip() == "[]"
