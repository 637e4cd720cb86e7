"""Values that no job has are refused in one line, and no file is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from tests.tidemark.adopt.apps import APP
from tests.tidemark.cli.test_cli import assert_one_clear_line
from tidemark.cli.main import main


def adopt(folder: Path, option: str, text: str):
    source = folder / "source"
    source.write_text(text, encoding="utf-8")
    (folder / "out").mkdir()
    words = ["--workflow", "Nightly Orders", "--name", "orders", "--output", str(folder / "out")]
    result = CliRunner().invoke(main, ["adopt", *words, option, str(source)])
    assert list((folder / "out").iterdir()) == []
    return result


@pytest.mark.parametrize(
    ("id_", "key", "value", "named"),
    [
        ("OrdersIngest", "MaxRetries", 99, "job orders_ingest: max_retries is 99; allowed: an int"),
        ("OrdersIngest", "Description", "\ud800", "surrogates"),
    ],
)
def test_a_template_with_a_value_that_no_job_has_is_refused(tmp_path, id_, key, value, named):
    document = json.loads((APP / "orders.template.json").read_text(encoding="utf-8"))
    document["Resources"][id_]["Properties"][key] = value

    assert_one_clear_line(adopt(tmp_path, "--template", json.dumps(document)), 2, named)


def test_a_template_whose_aliases_multiply_is_refused(tmp_path):
    lists: list[object] = ["a"]
    for _ in range(30):
        lists = [lists] * 10

    result = adopt(tmp_path, "--template", yaml.safe_dump({"Resources": {"A": {"Type": lists}}}))

    assert_one_clear_line(result, 2, "more than 1,000,000 values")
