"""docs/reference/semantics.md says what the tests show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.semantics_doc import (
    DOCUMENT,
    PROJECT,
    SECTIONS,
    SOURCES,
    Rule,
    RuleError,
    find_rules,
    render,
    sentence_of,
)


def project_with(folder: Path, marker: str) -> Path:
    (folder / "tests").mkdir()
    test = f"import pytest\n\n\n@pytest.mark.rule({marker})\ndef test_it_is_so():\n    pass\n"
    (folder / "tests" / "test_it.py").write_text(test, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def rules() -> list[Rule]:
    return find_rules(PROJECT)


def test_document_is_what_the_tests_show(rules):
    shown = render(rules, SOURCES, PROJECT)

    assert DOCUMENT.read_text(encoding="utf-8") == shown, "run `make docs`"


def test_rule_is_the_name_of_its_test_with_source_and_choice(tmp_path):
    project = project_with(tmp_path, '"Modes", source="BM, LIB", choice="so be it"')

    (rule,) = find_rules(project)

    expected = ("Modes", "It is so", ("BM", "LIB"), "so be it", project / "tests" / "test_it.py")
    assert rule == Rule(*expected)
    assert "| It is so | BM, LIB | so be it | [it](../../tests/test_it.py) |\n" in render(
        [rule], SOURCES, project
    )


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        (
            '"Moods", source="BM"',
            r"test_it.py::test_it_is_so: no section 'Moods'; allowed: .*M",
        ),
        ('"Modes", source="BM, XYZ"', r"no source \['XYZ'\]; allowed: .*'BM'"),
        ('"Modes"', "missing 1 required positional argument: 'source'"),
        ('"Modes", source="BM", why="x"', "unexpected keyword argument 'why'"),
        ('"Modes", source=BM', "malformed node"),
    ],
    ids=["section", "source", "no source", "argument", "not plain text"],
)
def test_marker_that_the_document_cannot_show_is_refused(tmp_path, marker, message):
    with pytest.raises(RuleError, match=message):
        find_rules(project_with(tmp_path, marker))


def test_only_the_sources_in_use_are_listed():
    shown = render([Rule("Modes", "It is so", ("BM",), "", DOCUMENT)], SOURCES, PROJECT)

    assert "monitor-continuations.html" in shown.split("## Sources")[1]
    assert "| TRG |" not in shown


def test_names_become_sentences():
    assert sentence_of("test_s3_file_of_a_jdbc_job") == "S3 file of a JDBC job"
    assert sentence_of("test_a_transformation_ctx") == "A transformation_ctx"


@pytest.mark.parametrize("section", ["Modes", "State and commit", "Reset and rewind"])
def test_sections_of_the_bookmark_have_rules(rules, section):
    assert section in SECTIONS
    assert any(rule.section == section for rule in rules)
