from __future__ import annotations

import pytest

from tidemark.errors import UsageError
from tidemark.report.lineage.destination import destination_of, settings_of, transport_of


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    """Let no setting of whoever runs the tests count."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    for name in ("URL", "CONFIG", "DISABLED", "API_KEY", "ENDPOINT"):
        monkeypatch.delenv(f"OPENLINEAGE_{name}", raising=False)


def test_a_file_is_added_to(tmp_path):
    transport = transport_of("events ä.jsonl", {})

    assert transport == {
        "type": "file",
        "log_file_path": str(tmp_path / "events ä.jsonl"),
        "append": True,
    }


@pytest.mark.parametrize(
    ("url", "base", "endpoint"),
    [
        ("http://marquez:5000", "http://marquez:5000", "api/v1/lineage"),
        ("https://h/v2/events/", "https://h", "v2/events"),
    ],
)
def test_a_url_without_a_path_has_the_endpoint_of_the_specification(url, base, endpoint):
    transport = transport_of(url, {})

    assert (transport["type"], transport["url"], transport["endpoint"]) == ("http", base, endpoint)
    assert "auth" not in transport


def test_endpoint_and_key_are_taken_from_the_variables_of_the_library():
    variables = {"OPENLINEAGE_ENDPOINT": "mine", "OPENLINEAGE_API_KEY": "k"}

    transport = transport_of("http://h", variables)

    assert transport["endpoint"] == "mine"
    assert transport["auth"] == {"type": "api_key", "apiKey": "k"}


@pytest.mark.parametrize("option", ["ftp://h/x", "http://", "kafka://me:hunter2@h", "no/folder/f"])
def test_what_is_no_place_for_events_is_refused_with_what_is_allowed(option):
    with pytest.raises(UsageError, match=r"a file, or a URL|name a file in a folder") as why:
        destination_of(option, pytest.fail)

    assert "hunter2" not in str(why.value)


def test_a_password_of_a_url_is_not_shown():
    found = destination_of("http://me:hunter2@h:1/x", pytest.fail)

    assert found.shown == "http://h:1/x"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"OPENLINEAGE_NAMESPACE": "prod"}, None),
        ({"OPENLINEAGE_URL": "http://h"}, "OPENLINEAGE_URL"),
        ({"OPENLINEAGE_URL": "http://h", "OPENLINEAGE_DISABLED": "True"}, None),
        ({"OPENLINEAGE__TRANSPORT__TYPE": "console"}, "OPENLINEAGE__TRANSPORT__TYPE"),
    ],
)
def test_settings_of_the_library_turn_events_on(variables, expected, tmp_path):
    assert settings_of(variables, tmp_path, tmp_path) == expected


def test_the_file_of_the_library_is_found_here_and_at_home(tmp_path):
    user = tmp_path / "user"
    (user / ".openlineage").mkdir(parents=True)
    (user / ".openlineage" / "openlineage.yml").touch()

    assert settings_of({}, tmp_path, user) == str(user / ".openlineage" / "openlineage.yml")
    (tmp_path / "openlineage.yml").touch()
    assert settings_of({}, tmp_path, user) == str(tmp_path / "openlineage.yml")


def test_a_transport_of_the_file_of_the_library_is_used(tmp_path):
    text = f"transport: {{type: file, log_file_path: {tmp_path}/log, append: true}}"
    (tmp_path / "openlineage.yml").write_text(text, encoding="utf-8")

    found = destination_of(None, pytest.fail)

    assert (found.client.transport.kind, found.shown) == ("file", str(tmp_path / "openlineage.yml"))


@pytest.mark.parametrize(
    "text",
    ["transport: {type: nothing.of.the.kind}", "transport: 3", "{", "transport: {type: http}"],
)
def test_settings_that_cannot_be_followed_are_told_and_stop_nothing(text, tmp_path, capsys):
    (tmp_path / "openlineage.yml").write_text(text, encoding="utf-8")
    told = []

    assert destination_of(None, told.append) is None
    (sentence,) = told
    assert sentence.startswith(f"no lineage: {tmp_path}/openlineage.yml asks for it, and ")
    assert capsys.readouterr() == ("", "")


def test_without_the_library_an_option_is_refused_and_a_setting_is_told(monkeypatch):
    monkeypatch.setattr("tidemark.extras.find_spec", lambda _: None)
    remedy = "`pip install 'tidemark-glue[lineage]'`"
    told = []

    with pytest.raises(UsageError) as why:
        destination_of("http://h", pytest.fail)
    monkeypatch.setenv("OPENLINEAGE_URL", "http://h")

    assert destination_of(None, told.append) is None
    assert remedy in str(why.value)
    assert [sentence.endswith(remedy) for sentence in told] == [True]


def test_nothing_is_sent_without_settings():
    assert destination_of(None, pytest.fail) is None
