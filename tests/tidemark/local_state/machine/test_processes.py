"""What a job inherits of the environment, whatever the locale of the command."""

from __future__ import annotations

import os

import pytest

from tidemark.local_state.machine.processes import LOCALE, inherited


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "C.UTF-8"),
        ({"LANG": "C"}, "C.UTF-8"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C"}, "C.UTF-8"),
        ({"LANG": "de_DE.ISO-8859-1"}, "C.UTF-8"),
        ({"LANG": "C", "LC_CTYPE": "de_DE.utf8"}, None),
        ({"LANG": "en_US.UTF-8"}, None),
        ({"LC_ALL": "en_US.UTF-8", "LANG": "C"}, "en_US.UTF-8"),
    ],
)
def test_text_of_a_job_is_utf_8(monkeypatch, given, expected):
    for name in LOCALE:
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)

    assert inherited().get("LC_ALL") == expected


def test_the_identity_of_the_caller_is_not_the_jobs(monkeypatch):
    given = {"AWS_PROFILE": "me", "AWS_ENDPOINT_URL": "x", "HOME": "/h", "SHLVL": "3", "PS1": "$"}
    monkeypatch.setattr(os, "environ", given)

    found = {name for name in inherited() if name != "LC_ALL"}
    assert found == {"AWS_ENDPOINT_URL", "HOME", "SHLVL"}


@pytest.mark.parametrize(("given", "level"), [({}, "1"), ({"SHLVL": "3"}, "3")])
def test_cold_and_warm_jvms_have_the_same_level_of_shells(monkeypatch, given, level):
    monkeypatch.setattr(os, "environ", given)

    assert inherited()["SHLVL"] == level
