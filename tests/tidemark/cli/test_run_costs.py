"""What `tidemark run` does for a run: it reads an app once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.fixtures.commands import WriteAssembly
from tests.tidemark.cli.test_cli import tidemark
from tests.tidemark.cli.test_run_serves import shells
from tidemark.model.assembly import cloud_assembly, template


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count which files of an assembly are read, and how often its definitions are made."""
    counts: Counter[str] = Counter()
    read_json, make_deployment = cloud_assembly._read_json, template._deployment

    def counted_read(path: Path):
        counts[path.name] += 1
        return read_json(path)

    def counted_deployment(*args):
        counts["deployment"] += 1
        return make_deployment(*args)

    monkeypatch.setattr(cloud_assembly, "_read_json", counted_read)
    monkeypatch.setattr(template, "_deployment", counted_deployment)
    return counts


def test_a_run_reads_its_app_once(
    home: Path, write_assembly: WriteAssembly, reads: Counter[str]
) -> None:
    app = shells(write_assembly({"first": "", "second": ""}, {"second": ["first"]}))

    result = tidemark("run", "--isolated", "--app", str(app))

    assert result.exit_code == 0, result.output
    assert "second  SUCCEEDED" in result.output
    files = ("manifest.json", "assets.json", "template.json")
    assert reads == {**dict.fromkeys(files, 1), "deployment": 1}


def test_the_status_of_an_app_reads_it_once(
    home: Path, write_assembly: WriteAssembly, reads: Counter[str]
) -> None:
    result = tidemark("status", "--app", str(write_assembly({"first": ""})))

    assert result.exit_code == 0, result.output
    assert "first" in result.output
    assert set(reads.values()) == {1}
