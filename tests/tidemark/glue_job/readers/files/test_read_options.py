"""What create_dynamic_frame does with connection and format options."""

from __future__ import annotations

import pytest

from tidemark.errors import UnsupportedError

pytestmark = pytest.mark.spark


@pytest.fixture
def read(glue_context, s3):
    """Return a reader of the test's prefix, or of one key in it."""

    def read(kind, format_options=None, key="", **connection_options):
        return glue_context.create_dynamic_frame.from_options(
            connection_type="s3",
            connection_options={"paths": [f"{s3.uri}{key}"], **connection_options},
            format=kind,
            format_options=format_options,
        ).toDF()

    return read


def test_csv_with_header_names_its_columns(read, s3):
    s3.put("a.csv", "id,origin\n1,EWR\n")

    flights = read("csv", {"withHeader": True})

    assert flights.collect() == [("1", "EWR")]
    assert flights.columns == ["id", "origin"]


@pytest.mark.parametrize("value", [False, "false", None], ids=["False", "text", "not given"])
def test_csv_without_header_reads_every_line(read, s3, value):
    s3.put("a.csv", "1,EWR\n2,JFK\n")

    flights = read("csv", {} if value is None else {"withHeader": value})

    assert flights.collect() == [("1", "EWR"), ("2", "JFK")]


def test_csv_separator_may_be_any_character(read, s3):
    s3.put("a.csv", "1|EW,R\n")

    assert read("csv", {"separator": "|"}).collect() == [("1", "EW,R")]


def test_csv_quote_char_encloses_separators(read, s3):
    s3.put("a.csv", "1,'Newark, NJ'\n")

    assert read("csv", {"quoteChar": "'"}).collect() == [("1", "Newark, NJ")]


def test_csv_quote_char_minus_one_means_that_nothing_is_quoted(read, s3):
    s3.put("a.csv", '1,"EWR"\n')

    assert read("csv", {"quoteChar": "-1"}).collect() == [("1", '"EWR"')]


def test_csv_escaper_takes_the_next_character_as_it_is(read, s3):
    s3.put("a.csv", '1,"so ~"called~" delay"\n')

    assert read("csv", {"escaper": "~"}).collect() == [("1", 'so "called" delay')]


@pytest.mark.parametrize("name", ["multiLine", "multiline"])
def test_csv_multi_line_reads_a_quoted_line_break(read, s3, name):
    s3.put("a.csv", '1,"two\nlines"\n')

    assert read("csv", {name: True}).collect() == [("1", "two\nlines")]


def test_csv_optimize_performance_changes_nothing(read, s3):
    s3.put("a.csv", "1,EWR\n")

    assert read("csv", {"optimizePerformance": True}).collect() == [("1", "EWR")]


@pytest.mark.parametrize("name", ["multiLine", "multiline"])
def test_json_multi_line_reads_one_document_over_several_lines(read, s3, name):
    s3.put("a.json", '{\n  "id": 1,\n  "origin": "EWR"\n}\n')

    assert read("json", {name: True}).collect() == [(1, "EWR")]


def test_nested_json_becomes_structs_and_arrays(read, s3):
    s3.put("a.json", '{"id": 1, "stops": [{"at": "ORD"}]}\n')

    assert read("json").selectExpr("id", "stops[0].at").collect() == [(1, "ORD")]


def test_without_recurse_plain_sub_folders_are_left_out(read, s3):
    s3.put("a.json", '{"id": 1}\n')
    s3.put("2013/b.json", '{"id": 2}\n')

    assert read("json").collect() == [(1,)]


@pytest.mark.parametrize("value", [True, "true"], ids=["True", "text"])
def test_recurse_reads_plain_sub_folders(read, s3, value):
    s3.put("a.json", '{"id": 1}\n')
    s3.put("2013/01/b.json", '{"id": 2}\n')

    assert read("json", recurse=value).orderBy("id").collect() == [(1,), (2,)]


def test_partition_folders_become_columns(read, s3):
    s3.put("year=2013/origin=EWR/a.json", '{"id": 1}\n')

    assert read("json").select("id", "year", "origin").collect() == [(1, 2013, "EWR")]


def test_partition_folders_below_a_path_that_ends_like_a_file_become_columns(read, s3):
    s3.put("flights.json/origin=EWR/a.json", '{"id": 1}\n')

    assert read("json", key="flights.json").collect() == [(1, "EWR")]


def test_partition_folders_and_plain_files_are_read_together(read, s3):
    s3.put("a.json", '{"id": 1}\n')
    s3.put("year=2013/b.json", '{"id": 2}\n')
    s3.put("year=2013/month=1/c.json", '{"id": 3}\n')

    flights = read("json").select("id", "year", "month").orderBy("id")

    assert flights.collect() == [(1, None, None), (2, 2013, None), (3, 2013, 1)]


def test_partition_folders_below_several_paths_become_columns(glue_context, s3):
    s3.put("new/year=2014/a.json", '{"id": 1}\n')
    s3.put("old/year=2013/b.json", '{"id": 2}\n')
    paths = [f"{s3.uri}new/", f"{s3.uri}old"]

    flights = glue_context.create_dynamic_frame.from_options("s3", {"paths": paths}, "json")

    assert flights.toDF().orderBy("id").collect() == [(1, 2014), (2, 2013)]


def test_partition_folders_within_plain_folders_become_columns(read, s3):
    s3.put("new/year=2014/a.json", '{"id": 1}\n')
    s3.put("old/year=2013/deep/b.json", '{"id": 2}\n')

    assert read("json", recurse=True).orderBy("id").collect() == [(1, 2014), (2, 2013)]


def test_folder_of_one_partition_may_be_a_path(read, s3):
    s3.put("year=2013/a.json", '{"id": 1}\n')

    assert read("json", key="year=2013/").collect() == [(1,)]


def test_every_match_of_a_pattern_is_a_path_of_its_own(read, s3):
    s3.put("in/2023/day=1/a.json", '{"id": 1}\n')
    s3.put("in/2024/day=2/b.json", '{"id": 2}\n')
    s3.put("in/2025/day=3/c.json", '{"id": 3}\n')
    s3.put("in/2024.json", '{"id": 4, "day": 0}\n')

    assert sorted(map(tuple, read("json", key="in/202[34]/").collect())) == [(1, 1), (2, 2)]
    assert read("json", key="in/{2023/day=1,2025/day=?}").orderBy("id").collect() == [(1,), (3,)]
    assert read("json", key="in/*.json").collect() == [(4, 0)]
    assert read("json", key="in/1999*/").columns == []


def test_path_may_be_one_file(read, s3):
    s3.put("a.json", '{"id": 1}\n')
    s3.put("b.json", '{"id": 2}\n')

    assert read("json", key="a.json").collect() == [(1,)]


def test_a_path_may_be_a_text_and_what_is_compressed_is_told_by_its_suffix(glue_context, s3):
    s3.put("a.json", '{"id": 1}\n')
    read = glue_context.create_dynamic_frame.from_options

    frame = read("s3", {"paths": s3.uri, "compressionType": "none", "isFailFast": True}, "json")

    assert frame.toDF().collect() == [(1,)]
    with pytest.raises(UnsupportedError, match=r"a\.json does not end with \.gz"):
        read("s3", {"paths": [s3.uri], "compressionType": "gzip"}, "json")


def test_path_may_be_one_file_of_any_name(read, s3):
    s3.put("a.txt", '{"id": 1}\n')

    assert read("json", key="a.txt").collect() == [(1,)]


def test_file_names_are_no_patterns(read, s3):
    s3.put("a[1].json", '{"id": 1}\n')
    s3.put("b{2,3}*?\\.json", '{"id": 2}\n')
    s3.put("c d%20.json", '{"id": 3}\n')

    assert read("json").orderBy("id").collect() == [(1,), (2,), (3,)]


def test_several_paths_are_read_together(glue_context, s3):
    s3.put("new/a.json", '{"id": 1}\n')
    s3.put("old/b.json", '{"id": 2}\n')

    flights = glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [f"{s3.uri}new/", f"{s3.uri}old/"]},
        format="json",
    )

    assert flights.toDF().orderBy("id").collect() == [(1,), (2,)]


def test_hidden_files_are_not_read(read, s3):
    s3.put("a.json", '{"id": 1}\n')
    s3.put("_SUCCESS", "")
    s3.put(".a.json.crc", "not json")

    assert read("json").collect() == [(1,)]


def test_many_files_are_read_without_a_listing_job(read, s3, logged):
    for number in range(40):
        s3.put(f"{number}.json", f'{{"id": {number}}}\n')

    events = logged(lambda: read("json").collect())

    assert "Listing leaf files" not in events
    assert events.count('"Event":"SparkListenerJobStart"') == 2  # inference, collect


@pytest.mark.parametrize("paths", [None, [], 1], ids=["missing", "empty", "number"])
def test_paths_must_be_a_list_of_uris(glue_context, paths):
    options = {} if paths is None else {"paths": paths}

    with pytest.raises(ValueError, match=r"connection_options\['paths'\] is .*must be a list"):
        glue_context.create_dynamic_frame.from_options("s3", options, "json")


def test_callers_options_are_not_changed(glue_context, s3):
    s3.put("a.csv", "1\n")
    connection_options = {"paths": [s3.uri], "recurse": True}
    format_options = {"withHeader": False}

    glue_context.create_dynamic_frame.from_options("s3", connection_options, "csv", format_options)

    assert connection_options == {"paths": [s3.uri], "recurse": True}
    assert format_options == {"withHeader": False}


def test_data_frame_reader_returns_a_spark_frame(glue_context, s3):
    s3.put("a.json", '{"id": 1}\n')

    frame = glue_context.create_data_frame_from_options("s3", {"paths": [s3.uri]}, "json")

    assert frame.collect() == [(1,)]
