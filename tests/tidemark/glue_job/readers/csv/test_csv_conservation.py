"""What a CSV file holds is a row, or an error names it: held against Python's own reader."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
from collections import Counter
from itertools import product

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from tidemark.glue_job.readers.csv.heads import inspect_files
from tidemark.glue_job.readers.files.formats import Format
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings

pytestmark = pytest.mark.spark

# Without shrinking: each example is a run of Spark.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
HEADER = {"withHeader": True}


@pytest.fixture
def rows_of(glue_context, s3):
    """Return a reader of all files below the prefix."""

    def rows_of(**options):
        frame = glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri]}, "csv", options
        )
        return [tuple(row) for row in frame.toDF().collect()]

    return rows_of


@pytest.fixture
def run_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def look(tmp_path):
    """Return what looks at one file, without Spark."""

    def look(name, content, **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return inspect_files([str(path)], Format("csv", options), str)[str(path)]

    return look


def put(s3, name, content):
    s3.put(name, "").write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.rule("Bad input", source="INFER", choice="rows, if the separator is white space too")
@pytest.mark.parametrize("multi_line", [False, True])
@pytest.mark.parametrize("separator", ["\t", " "])
def test_records_of_white_space_are_rows(rows_of, s3, separator, multi_line):
    lines = ["a.b", "1.2", ".", "3.", ".4", "", "."]
    put(s3, "a.csv", "\r\n".join(lines).replace(".", separator))

    rows = rows_of(separator=separator, multiLine=multi_line, **HEADER)

    assert rows == [("1", "2"), (None, None), ("3", None), (None, "4"), (None, None)]


def test_a_first_record_of_white_space_is_a_row(rows_of, s3):
    put(s3, "a.csv", "\t\n1\t2\n")

    assert rows_of(separator="\t") == [(None, None), ("1", "2")]


@pytest.mark.parametrize("separator", ["\x01", "\x1c"])
def test_records_of_a_separator_that_is_no_text_are_rows(rows_of, s3, separator):
    put(s3, "a.csv", "a.b\n1.2\n.\n3.\n".replace(".", separator))

    assert rows_of(separator=separator, **HEADER) == [("1", "2"), (None, None), ("3", None)]


@pytest.mark.parametrize("multi_line", [False, True])
def test_a_first_record_may_be_long(look, multi_line):
    names = [f"a_column_with_a_long_name_{place}" for place in range(5000)]

    seen = look("a.csv", f"{','.join(names)}\n{',' * 4999}\n", multiLine=multi_line, **HEADER)

    assert list(seen.first) == names


@pytest.mark.rule("Bad input", source="INFER", choice="a warning; multiLine reads it as one value")
@pytest.mark.parametrize("text", ['"a\nb"\n', '1,"x\n2,y"\n', '1,"x\r2,y"\r'])
def test_a_value_cut_at_its_line_end_causes_a_warning(look, run_folder, text):
    look("a.csv", text)

    (warning,) = read_warnings(run_folder)
    assert "a.csv: a line ends within quotes" in warning


@pytest.mark.parametrize("text", ['1,"x"\n', '5" pipe,2\n', '"a ""b""",""\n', "1,'x\n"])
def test_lines_that_close_their_quotes_are_not_warned_of(look, run_folder, text):
    look("a.csv", text)

    assert read_warnings(run_folder) == []


@pytest.mark.nightly
@pytest.mark.parametrize("blank", ["\n" * 60_000, "   \n", "\r\n\r\n", " \t\r"])
@pytest.mark.parametrize("header", [False, True])
def test_blank_lines_before_the_first_record_hide_nothing(rows_of, s3, blank, header):
    put(s3, "a.csv", f"{blank}a,b\n1,2\n")

    rows = rows_of(withHeader=header)

    assert rows == ([] if header else [("a", "b")]) + [("1", "2")]


@pytest.mark.rule("Bad input", source="INFER", choice="each whole file is checked")
@pytest.mark.parametrize("name", ["bad.csv", "bad.csv.gz", "bad.csv.bz2"])
def test_csv_that_is_not_utf_8_is_named_with_the_position(look, name):
    text = b"a,b\n" + b"x,y\n" * 600_000 + "é,1\n".encode("latin-1")
    packed = {"gz": lambda text: gzip.compress(text, 1), "bz2": bz2.compress}
    raw = packed.get(name.rpartition(".")[2], bytes)(text)
    wrong = rf"{name} as csv: it is not UTF-8.*0xe9, .* 2,\d+,\d+ "

    with pytest.raises(Exception, match=wrong):
        look(name, raw, **HEADER)


@pytest.mark.rule("Bad input", source="INFER", choice="an error; Spark makes one value of the rest")
@pytest.mark.parametrize("end", ["", "\n", '""', '""\n', ",\n3,4\n"])
def test_an_unclosed_quote_is_named_with_its_record(look, end):
    named = r"bad\.csv as csv: the record that begins with '2,x[^\uf8ff]*' has a quote"
    with pytest.raises(Exception, match=named):
        look("bad.csv", f'a,b\n1,2\n2,"x{end}', multiLine=True, **HEADER)


@pytest.mark.parametrize("text", ['1,"x"y\n', '1,x"y\n', '1,"x""y"\n', '1,"x\n\ny"', '"",""\n'])
def test_quotes_that_are_closed_are_no_error(look, text):
    assert len(look("a.csv", text, multiLine=True).first) == 2


@pytest.mark.rule(
    "Bad input", source="INFER", choice="the record's own line end; Spark takes the first one"
)
def test_a_line_feed_within_quotes_does_not_end_a_record(rows_of, s3):
    pairs = list(product(["\n", "\r\n", "\r"], repeat=2))
    for place, (end, within) in enumerate(pairs):
        put(s3, f"{place}.csv", f'"a{within}b",1{end}2,{place}{end}')

    rows = rows_of(multiLine=True)

    first = [(f"a{within}b", "1") for _, within in pairs]
    assert sorted(rows) == sorted([*first, *[("2", str(place)) for place in range(len(pairs))]])


@pytest.mark.parametrize("text", ["1\r\n2\n3\n", "1\n2\r\n", "1\r2\n", '"1\r"\r\n2\n'])
def test_records_that_end_in_two_ways_are_refused_where_spark_would_join_them(look, text):
    with pytest.raises(Exception, match=r"bad\.csv as csv: its records end with '\\"):
        look("bad.csv", text, multiLine=True)


def test_a_field_longer_than_python_s_limit_is_read(rows_of, s3):
    put(s3, "a.csv", f'1,"{"x" * 300_000}"\n')
    before = csv.field_size_limit()

    assert rows_of(multiLine=True) == [("1", "x" * 300_000)]
    assert csv.field_size_limit() == before


FIELDS = st.sampled_from(
    [
        "",
        " ",
        "  x ",
        "1",
        "007",
        "é",
        "\u2028x",
        "a b",
        'say "hi"',
        "#5",
        "\\",
        "'",
        "a\\,b",
        "NaN",
    ]
)
IN_QUOTES = st.sampled_from(["two\nlines", "\n", "x,y", "x\ty", '"'])
SEPARATORS = st.sampled_from([",", ";", "|", "\t"])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def files(draw, separator: str, multi_line: bool, width: int):
    """Return the bytes of a file, its name, and the records of it by Python's reader."""
    end = draw(ENDS)
    fields = FIELDS | IN_QUOTES if multi_line else FIELDS
    records = draw(st.lists(st.lists(fields, min_size=width, max_size=width), max_size=6))
    text = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if multi_line else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerows(records)
    lines = text.getvalue()
    if not draw(st.booleans()):
        lines = lines.removesuffix(end)
    blank = draw(st.sampled_from(["", end, end * 3]))
    raw = (draw(st.sampled_from(["", "\ufeff"])) + blank + lines).encode()
    # Spark's reader takes a mark of byte order only where it gets all of it at once.
    place = draw(st.integers(min(8, len(raw)), len(raw)))
    parts = [raw[:place], raw[place:]]  # as `cat a.gz b.gz` makes it
    packed = {
        "csv": raw,
        "csv.gz": b"".join(map(gzip.compress, parts)),
        "csv.bz2": b"".join(map(bz2.compress, parts)),
    }
    name = draw(st.sampled_from(sorted(packed)))
    read = csv.reader(io.StringIO(blank + lines, newline=""), delimiter=separator)
    return name, packed[name], [record for record in read if record]


def as_spark_has_it(record):
    return tuple(field or None for field in record)


def account_for(rows_of, s3, separator, multi_line, made):
    for old in s3.folder.glob("*"):
        old.unlink()
    for place, (name, content, _) in enumerate(made):
        put(s3, f"{place}.{name}", content)
    assume(any(records for _, _, records in made))

    rows = rows_of(separator=separator, multiLine=multi_line)

    wanted = Counter(as_spark_has_it(record) for _, _, records in made for record in records)
    assert Counter(rows) == wanted


def examples(count):
    """Return settings of a property of which each example is a run of Spark."""
    checks = list(HealthCheck)
    return settings(max_examples=count, deadline=None, phases=PHASES, suppress_health_check=checks)


CASES = st.tuples(SEPARATORS, st.booleans()).flatmap(
    lambda case: st.tuples(*map(st.just, case), st.lists(files(*case, 2), min_size=10, max_size=25))
)


@examples(6)
@given(case=CASES)
def test_rows_account_for_all_records(rows_of, s3, case):
    account_for(rows_of, s3, *case)


@pytest.mark.nightly
@examples(80)
@given(case=CASES)
def test_rows_account_for_all_records_of_more(rows_of, s3, case):
    account_for(rows_of, s3, *case)


@pytest.mark.nightly
@pytest.mark.rule("Formats", source="S3")
@pytest.mark.parametrize("multi_line", [False, True])
@pytest.mark.parametrize("escaper", ["\\", "~", "^"])
def test_an_escaper_stands_for_the_next_character_or_a_control_character(
    rows_of, s3, run_folder, escaper, multi_line
):
    text = '1,~n~r~t~0,~q~x,"a~nb~"c"\n2,"~n","~x",\n'
    put(s3, "a.csv", text.replace("~", escaper) + "3,x,y,z\n")

    rows = rows_of(escaper=escaper, multiLine=multi_line)

    assert rows == [
        ("1", "\n\r\t\0", "qx", 'a\nb"c'),
        ("2", "\n", "x", None),
        ("3", "x", "y", "z"),
    ]
    assert read_warnings(run_folder) == []


def test_escapers_that_spark_leaves_in_a_value_are_named(rows_of, s3, run_folder):
    put(s3, "a.csv", '"C:\\\\new",a\\nb\n')
    put(s3, "b.csv", '"C:\\\\new","a \\"b"\n')

    assert sorted(rows_of(escaper="\\")) == [("C:\\new", 'a "b'), ("C:\\new", "a\\nb")]
    [text] = read_warnings(run_folder)
    assert text.startswith(f"{s3.uri}a.csv: an escaper stands before")


@pytest.mark.parametrize("escaper", ["\\", "~"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_escaped_end_of_a_line_within_quotes_is_the_end_of_a_line(rows_of, s3, end, escaper):
    put(s3, "a.csv", f'1,"a{escaper}{end}b"{end}2,"" {end}')

    assert rows_of(escaper=escaper, multiLine=True) == [("1", f"a{end}b"), ("2", None)]


def test_an_escaped_end_of_a_line_beside_doubled_escapers_is_named(look, run_folder):
    text = '1,"a\\\nb\\\\"\n'
    look("a.csv", text, escaper="\\")
    assert not any("an escaper stands before" in text for text in read_warnings(run_folder))

    look("b.csv", text, escaper="\\", multiLine=True)

    assert any("b.csv: an escaper stands before" in text for text in read_warnings(run_folder))


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        *(
            (text, True)
            for text in ('1,"a""b"\n', '"""a",1\n', '1,"a"""\n', 'x\n1,"a"" b",2\n', '""" ,",2\n')
        ),
        *(
            (text, False)
            for text in (
                '1,"",2\n',
                '""\n',
                '"",""\r\n""\n',
                '1,"a\\""\n',
                '"\\"",x\n',
                '1,"" ,2\n',
                '"" \r\n"" \t',
            )
        ),
    ],
)
def test_doubled_quotes_are_named_where_an_escaper_is_set(look, run_folder, text, is_named):
    look("a.csv", text)
    assert not [one for one in read_warnings(run_folder) if "doubled quotes" in one]

    look("a.csv", text, escaper="\\")

    assert is_named == any("doubled quotes" in one for one in read_warnings(run_folder))
