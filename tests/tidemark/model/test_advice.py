"""The catalogue of advice: ids that stay, a sentence for each, and a page."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from string import Formatter

from tidemark.local_state.run_warnings import RunWarning
from tidemark.model.advice import advice_of, advice_on, catalogue, name_of

PROJECT = Path(__file__).parents[3]
KNOWN = json.loads((PROJECT / "tests/data/advice_ids.json").read_text(encoding="utf-8"))
ALL = [advice for source in catalogue() for advice in advice_of(source).values()]


def test_an_id_keeps_its_meaning():
    named = {advice.id: advice.name for advice in ALL}

    assert {id_: named.get(id_) for id_ in KNOWN} == KNOWN, "an id that was published is changed"
    assert list(named) == list(KNOWN), "add the new ids to tests/data/advice_ids.json"
    assert Counter(advice.id for advice in ALL).most_common(1)[0][1] == 1


def test_each_has_a_sentence_and_a_name_of_its_own_in_its_source():
    assert [advice for advice in ALL if not re.fullmatch(r"TM\d{3}", advice.id)] == []
    assert [advice for advice in ALL if not re.fullmatch(r"[a-z0-9-]+", advice.name)] == []
    assert [advice for advice in ALL if len(advice.text) < 10] == []
    for source, about in catalogue().items():
        assert len(advice_of(source)) == len(about["advice"])


def test_each_source_has_a_page():
    pages = [about["page"] for about in catalogue().values() if about["page"]]
    assert len(pages) > 5
    assert [page for page in pages if not (PROJECT / page).is_file()] == []


def test_advice_on_an_error_is_the_first_that_matches():
    assert advice_on("memory", "OutOfMemoryError: Metaspace").name == "no-more-classes"
    assert advice_on("memory", "java.lang.OutOfMemoryError: Java heap space").id == "TM114"
    assert advice_on("failures", "ValueError: no") is None


def test_what_a_remedy_leaves_open_is_known():
    names = {name for advice in ALL for _, name, _, _ in Formatter().parse(advice.remedy) if name}

    assert names == {
        *("full_disk", "glue_version", "kind", "lake", "line", "name", "pip_install", "place"),
        *("after", "package", "site", "version"),
    }


def test_every_warning_of_a_run_is_in_the_catalogue_and_no_other():
    assert [warning.value for warning in RunWarning] == list(advice_of("warnings"))
    assert all(warning.message.count("{}") == 1 for warning in RunWarning)
    assert RunWarning.COMMIT_MISSING.message.endswith(
        "make job.commit() its last statement (TM202)"
    )


def test_advice_has_two_names():
    lint = advice_of("lint")

    assert name_of(lint, "TM304") == name_of(lint, "commit-missing") == "commit-missing"
    assert name_of(lint, "TM999") == "TM999"
