"""Several writes to one dataset are one, whose mode says what a repetition of all would do."""

import pytest

from tidemark.model.checkpoints.checkpoint import DatasetWritten
from tidemark.model.checkpoints.merging import merged_writes


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        (("append", "append"), "append"),
        (("overwrite", "append"), "overwrite"),  # the first one empties what the second fills
        (("append", "overwrite"), "overwrite"),
        (("overwrite_partitions", "append"), "append"),
        (("window", "append"), "append"),
        (("merge", "window"), "merge"),
        (("merge", "unknown"), "unknown"),
    ],
)
def test_the_mode_that_counts_is_the_one_that_decides_what_a_repetition_does(modes, expected):
    (found,) = merged_writes(DatasetWritten("s3://b/a/", mode, "", 2, 1) for mode in modes)

    assert found == DatasetWritten("s3://b/a/", expected, "", 4, 2)


def test_datasets_keep_the_order_of_their_first_write_and_unknown_counts_stay_unknown():
    one, two = DatasetWritten("s3://b/1/", "append", "", None, 1), DatasetWritten("s3://b/2/")

    found = merged_writes([one, two, DatasetWritten("s3://b/1/", "append", "d.t", 5, 1)])

    assert found == (DatasetWritten("s3://b/1/", "append", "d.t", None, 2), two)
