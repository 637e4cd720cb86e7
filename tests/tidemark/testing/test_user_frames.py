"""The frame in which `--pdb` stops."""

from __future__ import annotations

import json

from tidemark.testing.user_frames import up_to_own


def last_frame(trace):
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_name


def fail_in_a_library():
    json.loads("{")


def test_what_is_below_the_last_own_frame_is_cut():
    try:
        fail_in_a_library()
    except ValueError as error:
        whole = error.__traceback__

    cut = up_to_own(whole, set())

    assert last_frame(whole) != "fail_in_a_library"
    assert last_frame(cut) == "fail_in_a_library"
    assert cut.tb_lineno == whole.tb_lineno


def test_a_script_that_is_no_file_any_more_is_own_by_its_name():
    try:
        exec(compile("def main():\n    int('x')\nmain()", "/gone/etl.py", "exec"), {})  # noqa: S102
    except ValueError as error:
        whole = error.__traceback__

    assert last_frame(up_to_own(whole, {"/gone/etl.py"})) == "main"


def test_an_error_of_libraries_alone_stays_as_it_is():
    try:
        json.loads("{")
    except ValueError as error:
        whole = error.__traceback__.tb_next

    assert up_to_own(whole, set()) is None
