"""Wheels for another Python or platform than that of the job are refused."""

import pytest

from tidemark.constructs.jobs.wheels import check_wheels
from tidemark.errors import JobDefinitionError

TEN, ELEVEN, NINE, THIRTEEN = (3, 10), (3, 11), (3, 9), (3, 13)


@pytest.mark.parametrize(
    ("wheel", "python"),
    [
        ("mine-1.0-py3-none-any.whl", ELEVEN),
        ("mine-1.0-py2.py3-none-any.whl", NINE),
        ("mine-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", ELEVEN),
        ("mine-1.0-cp311-cp311-manylinux_2_34_x86_64.whl", ELEVEN),
        ("mine-1.0-cp39-abi3-manylinux2014_x86_64.whl", THIRTEEN),
        ("mine-1.0-1-py311-none-any.whl", THIRTEEN),
        ("mine-1.0-cp313-none-linux_x86_64.whl", THIRTEEN),
    ],
)
def test_a_wheel_for_the_python_of_the_job_is_taken(wheel, python):
    check_wheels("one", python, ["pyarrow==21.0.0", "mine.whl", f"s3://code/libs/{wheel}"])


@pytest.mark.parametrize(
    ("wheel", "python"),
    [
        ("mine-1.0-cp311-cp311-manylinux2014_x86_64.whl", THIRTEEN),
        ("mine-1.0-cp313-cp313-manylinux2014_x86_64.whl", ELEVEN),
        ("mine-1.0-cp311-cp311-manylinux2014_x86_64.whl", NINE),
        ("mine-1.0-cp311-cp311-win_amd64.whl", ELEVEN),
        ("mine-1.0-cp311-cp311-macosx_11_0_arm64.whl", ELEVEN),
        ("mine-1.0-cp311-cp311-manylinux2014_aarch64.whl", ELEVEN),
        ("mine-1.0-cp311-cp311-manylinux_2_39_x86_64.whl", ELEVEN),
        ("mine-1.0-cp311-cp311-musllinux_1_2_x86_64.whl", ELEVEN),
        ("mine-1.0-cp312-abi3-manylinux2014_x86_64.whl", ELEVEN),
        ("mine-1.0-py2-none-any.whl", ELEVEN),
        ("mine-1.0-pp310-pypy310_pp73-manylinux2014_x86_64.whl", TEN),
        ("mine-1.0-py3-none-win32.whl", ELEVEN),
    ],
)
def test_a_wheel_for_another_python_or_platform_is_refused(wheel, python):
    with pytest.raises(JobDefinitionError, match=r"'mine-1.*, which is for .*; allowed: wheels"):
        check_wheels("one", python, [f"s3://code/{wheel}"])
