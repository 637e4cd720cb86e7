"""What docs/adopt.md shows is what `tidemark adopt` does."""

from __future__ import annotations

import pytest

from tests.pages import Page
from tests.projects import PROJECT, shell
from tests.tidemark.adopt.apps import new_project

BLOCKS = Page("docs/adopt.md").blocks


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = new_project(tmp_path_factory.mktemp("adopt-doc"))
    (project / "orders.tfstate").write_text(BLOCKS["orders.tfstate"], encoding="utf-8")
    return project


@pytest.fixture(scope="module")
def printed(project):
    return shell(project, f"PYTHONPATH={PROJECT} {BLOCKS['adopt']}")


def test_the_command_writes_what_the_page_names(project, printed):
    assert "wrote infra/nightly_v2_stack.py" in printed
    assert (project / "nightly-v2-migration.md").is_file()


def test_the_stack_has_the_jobs_that_the_page_shows(project, printed):
    stack = (project / "infra" / "nightly_v2_stack.py").read_text(encoding="utf-8")

    assert BLOCKS["jobs"] in stack


def test_the_plan_lists_the_version_of_glue_that_the_page_names(project, printed):
    plan = (project / "nightly-v2-migration.md").read_text(encoding="utf-8")

    assert "| job orders_report | GlueVersion | 4.0 |" in plan
    assert "acme-raw/orders/ (argument orders) is taken for input" in plan
