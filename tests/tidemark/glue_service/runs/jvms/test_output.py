"""What a JVM prints, cut at the mark that ends a run."""

from __future__ import annotations

import itertools
import os

from hypothesis import given
from hypothesis import strategies as st

from tidemark.glue_service.runs.jvms.output import Output, Split

MARK = b"<abab>"
# Letters of the mark itself, so that beginnings of it are everywhere.
TEXT = st.lists(st.sampled_from([b"<", b"a", b"b", b">", b"<ab", b"\n"]), max_size=12).map(b"".join)
CUTS = st.lists(st.integers(0, 60), max_size=8)


def chunks(data, cuts):
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def fed(split, pieces):
    """Return what came before the mark and after it; None if no mark was found."""
    before, after = b"", None
    for piece in pieces:
        if after is not None:
            after += piece
            continue
        part, after = split.feed(piece)
        before += part
    return before if after is not None else before + split.rest(), after


@given(TEXT.filter(lambda text: MARK not in text), TEXT, CUTS)
def test_any_chunks_give_the_same_before_and_after(before, after, cuts):
    whole = before + MARK + after
    at = whole.index(MARK)

    assert fed(Split(MARK), chunks(whole, cuts)) == (whole[:at], whole[at + len(MARK) :])


@given(TEXT.filter(lambda text: MARK not in text), CUTS)
def test_nothing_is_lost_without_the_mark(text, cuts):
    assert fed(Split(MARK), chunks(text, cuts)) == (text, None)


@given(TEXT, CUTS)
def test_without_a_mark_to_look_for_everything_passes_at_once(text, cuts):
    split = Split()

    assert b"".join(split.feed(piece)[0] for piece in chunks(text, cuts)) == text
    assert split.rest() == b""


def test_output_goes_to_the_run_until_the_mark_and_to_the_jvm_after_it(tmp_path):
    pipe, jvm = os.pipe()
    own, run = tmp_path / "own", tmp_path / "run"
    output = Output(pipe, own)

    os.write(jvm, b"before; ")
    while not own.is_file() or own.read_bytes() != b"before; ":
        pass
    output.begin(run, MARK)
    os.write(jvm, b"of the run <ab" + MARK + b"after")
    assert output.wait_for_mark(60)
    os.close(jvm)
    output.wait_for_end(60)

    assert run.read_bytes() == b"of the run <ab"
    assert own.read_bytes() == b"before; after"


def test_output_of_a_jvm_that_ends_before_the_mark_is_the_runs(tmp_path):
    pipe, jvm = os.pipe()
    output = Output(pipe, tmp_path / "own")
    output.begin(tmp_path / "run", MARK)

    os.write(jvm, b"last words <aba")
    os.close(jvm)
    output.wait_for_end(60)

    assert (tmp_path / "run").read_bytes() == b"last words <aba"
    assert not output.wait_for_mark(0)


def test_error_that_a_jvm_may_not_recover_from_is_noticed_in_any_pieces(tmp_path):
    pipe, jvm = os.pipe()
    output = Output(pipe, tmp_path / "own")
    output.begin(tmp_path / "run", MARK)

    os.write(jvm, b"Exception in thread: java.lang.OutOfMem")
    while not (tmp_path / "run").read_bytes():
        pass
    assert not output.is_fatal
    os.write(jvm, b"oryError: Java heap space")
    os.close(jvm)
    output.wait_for_end(60)

    assert output.is_fatal


def test_log_that_cannot_be_written_stops_neither_the_run_nor_the_jvm(tmp_path):
    pipe, jvm = os.pipe()
    output = Output(pipe, tmp_path / "own")
    output.begin(tmp_path / "no folder" / "run", MARK)

    os.write(jvm, b"lost" + MARK + b"kept")
    os.close(jvm)
    output.wait_for_end(60)

    assert output.wait_for_mark(0)
    assert (tmp_path / "own").read_bytes() == b"kept"
