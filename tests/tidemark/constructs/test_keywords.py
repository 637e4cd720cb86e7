"""An unknown or missing argument is refused with the name that was meant."""

from __future__ import annotations

import inspect
from enum import Enum

import pytest

import tidemark.constructs as tc
from tidemark.errors import InputError

pytestmark = pytest.mark.synth


def declared(name):
    """Return the class that a public name stands for, if it is one that is called."""
    found = getattr(tc, name)
    is_called = isinstance(found, type) and not issubclass(found, Enum)
    return found if is_called and len(inspect.signature(found.__init__).parameters) > 1 else None


CLASSES = [name for name in tc.__all__ if declared(name)]


@pytest.mark.parametrize("name", CLASSES)
def test_an_unknown_argument_of_any_public_class_is_told_with_those_there_are(name):
    parameters = [
        it for it in inspect.signature(declared(name).__init__).parameters if it != "self"
    ]

    with pytest.raises(InputError, match=f"{parameters[-1]!r}") as told:
        declared(name)(**{f"{parameters[-1]}x": 1})

    assert "did you mean" in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("method", "given", "named"),
    [
        ("add_job", {"reeds": []}, "add_job has no argument 'reeds'; did you mean 'reads'"),
        ("add_job", {"bookmarks": True}, "did you mean 'bookmark'"),
        ("add_job", {"script": "x.py"}, "missing a required.*'bookmark'"),
        ("add_shell_job", {"run_time": 1}, "did you mean 'runtime'"),
        ("add_streaming_job", {"source": []}, "did you mean 'sources'"),
        ("add_crawler", {"data_base": "x"}, "did you mean 'database'"),
        ("add_crawler", {"zzz": "x"}, "add_crawler has no argument 'zzz'; allowed: name, targets"),
    ],
)
def test_a_slip_in_a_declaration_is_told(method, given, named):
    with pytest.raises(InputError, match=named):
        getattr(tc.Pipeline, method)(object(), "orders", **given)


def test_it_stays_the_error_that_python_raises():
    with pytest.raises(TypeError):
        tc.JobOptions(descriptoin="x")
