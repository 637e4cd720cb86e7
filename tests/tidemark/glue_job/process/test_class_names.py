"""Py4J remembers what it found of a JVM, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytestmark = pytest.mark.spark


@pytest.fixture
def view(spark: Any) -> Any:
    """A view of the JVM of this test's own."""
    return spark.sparkContext._gateway.new_jvm_view("own")


@pytest.fixture
def asked(view: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the JVM was asked for by name, one after the other."""
    names: list[str] = []
    send = view._gateway_client.send_command

    def note(command: str, *arguments: Any, **named: Any) -> Any:
        if found := re.match(r"r\n[um]\n(.+)\n", command):
            names.append(found[1])
        return send(command, *arguments, **named)

    monkeypatch.setattr(view._gateway_client, "send_command", note)
    return names


def test_a_class_its_packages_and_its_methods_are_asked_for_once(view, asked):
    assert view.java.util.Collections.emptyList().size() == 0
    assert asked[:3] == ["java", "java.util", "java.util.Collections"]
    del asked[:]

    assert view.java.util.Collections.emptyList().size() == 0
    assert asked == []
    assert view.java.util.ArrayList().size() == 0
    assert asked == ["java.util.ArrayList"]


def test_what_is_no_class_is_asked_for_again(view, asked):
    for _ in range(2):
        with pytest.raises(TypeError, match="JavaPackage"):
            view.com.example.Later()

    assert asked.count("com.example.Later") == 2


def test_an_import_changes_what_a_short_name_is(view, spark):
    from py4j.java_gateway import java_import

    java_import(view, "java.util.*")
    assert view.Date(0).getTime() == 0

    java_import(view, "java.sql.Date")
    assert view.Date(0).getClass().getName() == "java.sql.Date"


def test_a_field_has_its_value_of_now(view):
    system = view.java.lang.System
    before = system.out
    try:
        system.setOut(view.java.io.PrintStream(view.java.io.ByteArrayOutputStream()))
        assert not system.out.equals(before)
    finally:
        system.setOut(before)
