"""What an XML file holds is a row, or named in an error or a warning: held against expat."""

from __future__ import annotations

import bz2
import gzip
import json
from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampled import at_night
from tidemark.glue_job.readers.files.xml import BROKEN
from tidemark.glue_job.readers.files.xml_records import XmlOptions, records
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings

ROW = XmlOptions("r")
PACK = {"xml": bytes, "xml.gz": gzip.compress, "xml.bz2": bz2.compress}


def strings_of(value):
    """Return all texts in a record, in order but for those of attributes and of mixed content."""
    if isinstance(value, dict):
        return sorted(text for one in value.values() for text in strings_of(one))
    if isinstance(value, list):
        return sorted(text for one in value for text in strings_of(one))
    return [value.strip()] if value and value.strip() else []


def read(path, raw):
    """Return the texts of the rows of a file, and the texts between rows; None if it is broken."""
    path.write_bytes(raw)
    beside: list[str] = []
    try:
        return [strings_of(one) for one in records(str(path), ROW, beside)], beside
    except BROKEN:
        return None


class Reference:
    """The texts of each row element that is in no other, and those directly beside one."""

    def __init__(self):
        self.rows, self.beside, self.open = [], [], [[False, []]]
        self.depth = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text

    def start(self, name, attributes):
        if name == "r" and self.depth == 0:
            self.open[-1][0] = True
            self.rows.append([])
        if name == "r" or self.depth:
            self.depth += 1
            self.rows[-1] += [value.strip() for value in attributes.values() if value.strip()]
            self.open.append([False, self.rows[-1]])
        else:
            self.open.append([False, []])
        self.open[-1].append("")

    def end(self, name):
        has_rows, texts, text = self.open.pop()
        if self.depth:
            self.depth -= 1
            texts += [text.strip()] if text.strip() else []
        elif has_rows:
            self.beside.append(text)

    def text(self, text):
        self.open[-1][2] += text if self.depth else f"\0{text}"

    def of(self, raw):
        self.parser.Parse(raw, True)
        beside = "".join(part for one in self.beside for part in one.split("\0"))
        return [sorted(row) for row in self.rows], "".join(beside.split())


TEXT = st.sampled_from(["", " ", "1", "x", "é", "&amp;", "<![CDATA[<r>]]>", "<!-- r -->"])
NAME = st.sampled_from(["a", "b", "_VALUE", "r"])
ATTRIBUTES = st.sampled_from(["", ' a="1"', ' _a="2"', ' a="1" b="3"', ' p:a="4" q:a="5"'])
ELEMENT = st.recursive(
    TEXT,
    lambda inner: st.builds(
        lambda name, attributes, parts: f"<{name}{attributes}>{''.join(parts)}</{name}>",
        NAME,
        ATTRIBUTES,
        st.lists(inner, max_size=3),
    ),
    max_leaves=6,
)
ROWS = st.builds(lambda inner, end: f"<r>{inner}</r>{end}", ELEMENT, TEXT)
DOCUMENTS = st.lists(ROWS, max_size=5).map(
    lambda rows: f'<x xmlns:p="p" xmlns:q="q">{"".join(rows)}</x>'
)


@given(document=DOCUMENTS, mark=st.sampled_from(["", "\ufeff"]), kind=st.sampled_from(sorted(PACK)))
def test_rows_and_what_lies_between_account_for_all_text(tmp_path_factory, document, mark, kind):
    raw = (mark + document).encode()
    wanted, between = Reference().of(raw)

    found = read(tmp_path_factory.mktemp("xml") / f"a.{kind}", PACK[kind](raw))

    assert found is not None
    assert found[0] == wanted
    assert "".join("".join(found[1]).split()) == between


@given(
    document=DOCUMENTS,
    kind=st.sampled_from(sorted(PACK)),
    tail=st.sampled_from(["junk", "<x/>", "<r>1</r>", "</x>", "\ufeff", "&", "\1"]),
)
def test_what_follows_the_root_is_an_error(tmp_path_factory, document, kind, tail):
    raw = PACK[kind](document.encode()) + PACK[kind](tail.encode())

    assert read(tmp_path_factory.mktemp("xml") / f"a.{kind}", raw) is None


@given(document=DOCUMENTS, kind=st.sampled_from(sorted(PACK)), data=st.data())
def test_a_file_that_is_cut_is_an_error(tmp_path_factory, document, kind, data):
    raw = PACK[kind](document.encode())
    cut = raw[: data.draw(st.integers(1, len(raw) - 1))]

    assert read(tmp_path_factory.mktemp("xml") / f"a.{kind}", cut) is None


@pytest.mark.parametrize("kind", ["xml.gz", "xml.bz2"])
@pytest.mark.parametrize("tail", [b"garbage", b"\x1f\x8b", b"BZh9", b"BZh91AY&SYxxxxxxxxxxxxxx"])
def test_what_follows_a_compressed_file_is_an_error(tmp_path, kind, tail):
    raw = PACK[kind](b"<x><r>1</r></x>") + tail

    assert read(tmp_path / f"a.{kind}", raw) is None


def test_an_entity_of_the_document_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text("<!DOCTYPE x [<!ENTITY co 'ACME'>]><x><r><i>&co; Ltd</i></r></x>")

    with pytest.raises(ValueError, match="the entity &co; is not resolved: write the text itself"):
        list(records(str(path), ROW))


@pytest.fixture
def warned(glue_context, s3, tmp_path, monkeypatch):
    """Return a reader of all files below the prefix that returns the count and the warnings."""
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))

    def warned(**options):
        frame = glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri]}, "xml", {"rowTag": "r", **options}
        )
        return frame.count(), read_warnings(tmp_path)

    return warned


SCHEMA = json.dumps(
    {"dataType": "struct", "fields": [{"name": "i", "container": {"dataType": "long"}}]}
)


@pytest.mark.spark
@pytest.mark.rule("Bad input", source="INFER", choice="no rows, and a warning that names the files")
@pytest.mark.parametrize("options", [{}, {"withSchema": SCHEMA}])
def test_files_without_the_row_tag_are_named(warned, s3, options):
    s3.put("a.xml", "<x><r><i>1</i></r></x>")
    for name in ("b", "c", "d", "e"):
        s3.put(f"{name}.xml", "<x><R><i>1</i></R></x>")

    count, (warning,) = warned(**options)

    assert count == 1
    assert warning.startswith(
        f"in {s3.uri}b.xml, {s3.uri}c.xml, {s3.uri}d.xml and 1 more there is no element r, the row"
    )


@pytest.mark.spark
@pytest.mark.rule("Bad input", source="INFER", choice="in no row, and a warning with an example")
def test_text_between_rows_is_named(warned, s3):
    s3.put("a.xml", "<x><h>head</h><r><i>1</i></r>lost <r><i>2</i></r></x>")

    count, (warning,) = warned()

    assert count == 2
    assert f": 'lost' in {s3.uri}a.xml; " in warning


@pytest.mark.spark
def test_elements_around_rows_are_no_warning(warned, s3):
    s3.put("a.xml", "<x>\n<h>head</h>\n<l>\n<r><i>1</i></r>\n</l>\n<t/>tail</x>")

    assert warned() == (1, [])


@pytest.mark.spark
def test_a_long_of_19_digits_keeps_them(glue_context, s3):
    s3.put("a.xml", f"<x><r><i>{2**63 - 1}</i></r><r><i>{-(2**63)}</i></r></x>")

    frame = glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [s3.uri]}, "xml", {"rowTag": "r"}
    ).toDF()

    assert sorted(row.i for row in frame.collect()) == [-(2**63), 2**63 - 1]


@pytest.mark.spark
@pytest.mark.rule(
    "Bad input", source="INFER", choice="doubles, and a warning that names the element"
)
@pytest.mark.parametrize(
    ("number", "other"),
    [
        (2**53 + 1, 0.5),
        *at_night((2**53 + 1, 2**63), ("1234567890123.4567", 1), ("1e999", 1), ("1e-999", 1)),
    ],
)
@pytest.mark.parametrize(
    ("element", "path"),
    [
        ("<i>{}</i>", "i"),
        ("<a><i>{}</i></a>", "a.i"),
        ('<i u="1">{}</i>', "i"),
        ('<a i="{}"/>', "a._i"),
    ],
)
def test_numbers_that_doubles_round_are_named(warned, s3, number, other, element, path):
    s3.put("a.xml", f"<x><r>{element.format(number)}</r></x>")
    s3.put("b.xml", f"<x><r>{element.format(other)}</r></x>")

    count, (warning,) = warned()

    assert count == 2
    assert warning.startswith(f"the element {path} of {s3.uri}a.xml, {s3.uri}b.xml has numb")


@pytest.mark.spark
def test_numbers_that_doubles_hold_are_no_warning(warned, s3):
    numbers = 2**53, 0.5, 0.1, "0.10000000000000001", f"{0.1:.60f}", "1E+2", "0.0"
    rows = "".join(f"<r><i>{number}</i></r>" for number in numbers)
    s3.put("a.xml", f"<x>{rows}<r><j>{2**53 + 1}</j></r></x>")

    assert warned() == (8, [])
