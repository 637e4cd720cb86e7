"""The committed state manifest is that of the app, in every stage."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.fixtures.synthesis import ROOT
from tidemark.checks.state.losses import LossKind
from tidemark.checks.state.manifest import MANIFEST
from tidemark.checks.state.project import review_project, stage_names

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.synth
def test_committed_manifest_is_up_to_date(assembly):
    found = review_project(ROOT, assembly.folder)

    assert found.is_safe
    assert found.written.render() == (ROOT / MANIFEST).read_text(encoding="utf-8"), "`make state`"


@pytest.mark.synth
def test_renamed_job_of_the_app_is_a_loss(assembly, tmp_path):
    folder = shutil.copytree(assembly.folder, tmp_path / "cdk.out")
    (path,) = folder.glob("*-flights.template.json")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"curate-flights"', '"tidy-flights"'), encoding="utf-8")

    found = review_project(ROOT, folder)

    (loss,) = found.unacknowledged
    assert (loss.kind, loss.subject) == (LossKind.BOOKMARK_GONE, "curate-flights")
    assert '"to": "tidy-flights"' in loss.remedy


def test_manifest_names_no_stage_and_no_account():
    text = (ROOT / MANIFEST).read_text(encoding="utf-8")

    assert set(stage_names(ROOT)) == {"dev", "prod"}
    assert not re.search(r"\b(dev|prod)\b|[0-9]{12}", text)


@pytest.mark.parametrize(("target", "words"), [("diff", "deploy --dry-run"), ("deploy", "deploy")])
def test_what_looks_for_losses_first_compares_and_deploys(target, words):
    recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)[1]

    assert recipe == f"\t@tidemark {words} $(STAGE)\n"
