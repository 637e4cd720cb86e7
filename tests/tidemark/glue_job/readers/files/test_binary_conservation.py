"""What a file of Avro or Ion holds is a row, or an error names the file."""

from __future__ import annotations

import bz2
import gzip
import io
import json

import fastavro
import pytest
from amazon.ion import simpleion
from hypothesis import given
from hypothesis import strategies as st

from tidemark.errors import TidemarkError, UnsupportedError
from tidemark.glue_job.readers.files.avro import records_of as avro_records
from tidemark.glue_job.readers.files.avro import schema_in
from tidemark.glue_job.readers.files.ion import records_of as ion_records
from tidemark.glue_job.readers.files.read_errors import UnreadableFileError

SCHEMA = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "id", "type": "long"}, {"name": "text", "type": ["null", "string"]}],
}
SYNC = b"0123456789abcdef"
TEXTS = st.sampled_from([None, "", "Obj\1", "x" * 90, "é"])
RECORD = st.tuples(st.integers(-(2**40), 2**40), TEXTS)
RECORDS = st.lists(RECORD, max_size=30)
PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
# What Spark's own writer of Avro can write: snappy, by default.
CODECS = ("snappy", "null", "deflate", "bzip2", "xz", "zstandard")
PACKED = st.sampled_from(sorted(PACK))


def avro(records, codec="null"):
    file = io.BytesIO()
    rows = [{"id": number, "text": text} for number, text in records]
    fastavro.writer(file, SCHEMA, rows, codec=codec, sync_interval=100, sync_marker=SYNC)
    return file.getvalue()


def read_avro(path, raw):
    """Return the rows of a file, None where it is broken."""
    path.write_bytes(raw)
    try:
        columns = schema_in(str(path), "s3://b/bad.avro")
        return list(avro_records(frozenset(), columns, "s3://b/bad.avro", str(path)))
    except UnreadableFileError as error:
        return None if "s3://b/bad.avro as avro" in str(error) else [error]


def long_at(raw, place):
    """Return the number of Avro at a place, and the place behind it."""
    value = shift = 0
    while True:
        byte = raw[place]
        value, shift, place = value | (byte & 127) << shift, shift + 7, place + 1
        if byte < 128:
            return (value >> 1) ^ -(value & 1), place


def blocks_in(raw):
    """Yield where each block of an uncompressed file ends, and how many records are before."""
    place, known = raw.index(b"\0", raw.index(b"avro.schema")) + 1 + 16, 0
    yield place, 0
    while place < len(raw):
        count, place = long_at(raw, place)
        size, place = long_at(raw, place)
        place, known = place + size + 16, known + count
        yield place, known


@given(records=RECORDS, codec=st.sampled_from(CODECS), packed=PACKED)
def test_every_record_of_avro_is_a_row(tmp_path_factory, records, codec, packed):
    raw = PACK[packed](avro(records, codec))

    assert read_avro(tmp_path_factory.mktemp("avro") / f"a.avro{packed}", raw) == records


@given(records=RECORDS, data=st.data())
def test_avro_that_is_cut_is_an_error_but_between_two_blocks(tmp_path_factory, records, data):
    raw = avro(records)
    ends = dict(blocks_in(raw))
    cut = data.draw(st.integers(1, len(raw) - 1) | st.sampled_from(sorted(ends)))

    found = read_avro(tmp_path_factory.mktemp("avro") / "a.avro", raw[:cut])

    assert found == (records[: ends[cut]] if cut in ends else None)


@given(
    records=RECORDS,
    tail=st.binary(min_size=1, max_size=40) | RECORDS.map(avro),
    packed=PACKED,
)
def test_what_follows_the_last_block_of_avro_is_an_error(tmp_path_factory, records, tail, packed):
    raw = avro(records)
    raw = PACK[packed](raw) + PACK[packed](tail)

    assert read_avro(tmp_path_factory.mktemp("avro") / f"a.avro{packed}", raw) is None


@pytest.mark.parametrize("count", [b"\0", b"\2", b"\3", b"\6", b"\1"])
def test_a_block_of_avro_that_counts_wrong_is_an_error(tmp_path, count):
    raw = avro([(1, None), (2, None)])
    ends = [place for place, _ in blocks_in(raw)]
    assert raw[ends[0] : ends[0] + 1] == b"\4"

    assert read_avro(tmp_path / "a.avro", raw[: ends[0]] + count + raw[ends[0] + 1 :]) is None


@pytest.mark.rule("Bad input", source="INFER", choice="an error that names codec and library")
@pytest.mark.parametrize("codec", ["lz4"])
def test_avro_with_a_missing_codec_library_is_not_called_damaged(tmp_path, codec):
    raw = avro([(1, None)]).replace(b"\x08null", bytes([2 * len(codec)]) + codec.encode(), 1)

    with pytest.raises(
        UnsupportedError, match=rf"bad\.avro .*codec {codec} .*library \w+"
    ) as error:
        read_avro(tmp_path / "a.avro", raw)

    assert "repair or delete" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [(["int", "string"], "a union of int and string"), (["null", "Event"], "'Event' contains")],
)
def test_avro_of_a_type_that_is_not_supported_is_named(tmp_path, kind, reason):
    schema = {"type": "record", "name": "Event", "fields": [{"name": "x", "type": kind}]}
    with (tmp_path / "a.avro").open("wb") as file:
        fastavro.writer(file, schema, [])

    with pytest.raises(UnsupportedError, match=rf"s3://b/bad\.avro as avro: .*{reason}.*; write"):
        schema_in(str(tmp_path / "a.avro"), "s3://b/bad.avro")


IDS = st.lists(st.integers(0, 2**31), min_size=1, max_size=8)


def ion(ids, *, is_binary):
    structs = [{"id": one, "text": "}{ \"]'"} for one in ids]
    return simpleion.dumps(structs, binary=is_binary, sequence_as_stream=True)


def read_ion(path, raw):
    """Return the ids of the structs of a file, None where it is broken."""
    path.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    try:
        return [one["id"] for one in ion_records("s3://b/bad.ion", str(path))]
    except TidemarkError as error:
        return None if "s3://b/bad.ion as ion" in str(error) else [error]


@given(parts=st.lists(IDS, min_size=1, max_size=4), packed=PACKED, is_binary=st.booleans())
def test_every_struct_of_ion_is_a_row(tmp_path_factory, parts, packed, is_binary):
    raw = [ion(ids, is_binary=is_binary) for ids in parts]
    raw = [one if isinstance(one, bytes) else one.encode() + b"\n" for one in raw]

    found = read_ion(
        tmp_path_factory.mktemp("ion") / f"a.ion{packed}", b"".join(map(PACK[packed], raw))
    )

    assert found == [one for ids in parts for one in ids]


@given(ids=IDS, data=st.data())
def test_binary_ion_that_is_cut_has_all_structs_before_or_is_an_error(tmp_path_factory, ids, data):
    raw = ion(ids, is_binary=True)
    cut = data.draw(st.integers(5, len(raw) - 1))

    found = read_ion(tmp_path_factory.mktemp("ion") / "a.ion", raw[:cut])

    assert found is None or found == ids[: len(found)]
    if found is not None:  # between two values
        assert read_ion(tmp_path_factory.mktemp("ion") / "b.ion", raw[:cut] + raw[cut:]) == ids


@pytest.mark.parametrize(
    "tail",
    [
        "5",
        '"s"',
        "x",
        "null",
        "null.struct",
        "true",
        "[]",
        "[{id:2}]",
        "({id:2})",
        "}",
        "]",
        ",",
        "{id:",
        "{id:2",
        "/* open",
        "'''open",
        "{id:2,id:3}",
        "{id:2,in:{a:1,a:2}}",
        "\0",
        "\0{id:2}",
    ],
)
def test_ion_that_is_no_struct_is_an_error(tmp_path, tail):
    assert read_ion(tmp_path / "a.ion", f"{{id:1}} {tail}") is None


def test_the_reader_of_json_s_spelling_takes_ion_too(tmp_path):
    text = "\n".join(json.dumps({"id": one}) for one in range(3))

    assert read_ion(tmp_path / "a.ion", text) == [0, 1, 2]
