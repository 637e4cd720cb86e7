"""The writes at which a script says why a retry may add their rows twice."""

from __future__ import annotations

import pytest

from tidemark.checks.lint.ignores import accepted_in, accepted_lines, repeated

COMMENT = "# tidemark: ignore[retry-appends] readers keep the newest row"


def test_a_comment_counts_on_every_line_of_its_write():
    script = f"df.write \\\n  .mode('append') \\\n  .parquet(path)  {COMMENT}\n"

    assert accepted_lines(script) == dict.fromkeys((1, 2, 3), "readers keep the newest row")


@pytest.mark.parametrize(
    "script",
    [
        f"{COMMENT}\n",  # at no write
        "df.write.mode('append').parquet(path)\n",
        f"df.write.mode('overwrite').parquet(path)  {COMMENT}\n",
        "df.write.mode('append').parquet(path)  # tidemark: ignore[retry-appends]\n",  # no reason
        "df.write.mode('append').parquet(path)  # tidemark: ignore[ctx-missing] why\n",
        "def f(:\n",  # which fails as a run, not here
        "x = '''\n",
    ],
)
def test_nothing_else_is_accepted(script):
    assert accepted_lines(script) == {}


def test_lines_are_those_of_each_script(tmp_path):
    file = tmp_path / "job.py"
    file.write_text(f"df.write.mode('append').orc(path)  {COMMENT}\n", encoding="utf-8")

    assert accepted_in({"a.py": file}) == {("a.py", 1): "readers keep the newest row"}


@pytest.mark.parametrize(
    ("path", "folders"),
    [
        ("args['raw']", ["s3://lake/raw/"]),
        ("args['raw'] + '/day=1/'", ["s3://lake/raw/"]),
        ("'s3://lake/mart'", ["s3://lake/mart/"]),
        ("args['other']", ["s3://lake/mart/", "s3://lake/raw/"]),
        ("path", ["s3://lake/mart/", "s3://lake/raw/"]),
    ],
)
def test_such_a_write_repeats_rows_where_it_writes_or_anywhere_if_that_is_not_known(path, folders):
    script = f"df.write.mode('append').orc({path})  {COMMENT}\ndf.write.orc('s3://lake/mart/')\n"
    arguments, every = {"--raw": "s3://lake/raw/"}, ["s3://lake/raw/", "s3://lake/mart/"]

    assert repeated(script, arguments, every) == [
        (folder, "readers keep the newest row") for folder in folders
    ]


def test_a_statement_that_is_no_write_of_spark_is_accepted_for_a_proof(tmp_path):
    file = tmp_path / "a.py"
    file.write_text(
        "for key in keys:\n    put(\n        key,\n"
        "    )  # tidemark: ignore[retry-appends] each twice\nput(key)\n"
    )

    assert accepted_in({"a.py": file}) == dict.fromkeys(
        [("a.py", 2), ("a.py", 3), ("a.py", 4)], "each twice"
    )


def test_a_comment_within_a_block_accepts_its_own_line_only(tmp_path):
    file = tmp_path / "a.py"
    file.write_text(
        "match kind:\n    case 1:\n        put(1)  # tidemark: ignore[retry-appends] each twice\n"
        "    case _:\n        put(2)\n"
    )

    assert accepted_in({"a.py": file}) == {("a.py", 3): "each twice"}
