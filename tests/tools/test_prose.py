import pytest

from tools.prose import problems, problems_of_code, problems_of_data

PAGE = """# Title

The job, of which nothing is known, is no stream.
```sh
echo "of which"
```
A run of `is told` that is there.
"""


def test_each_problem_of_a_page_has_its_line() -> None:
    found = sorted(problems(PAGE))

    assert [line for line, _ in found] == [3, 3, 7]
    assert any("of which" in message for _, message in found)


@pytest.mark.parametrize(
    "text", ["There is no job `load`.", "It is no longer read.", "It is None."]
)
def test_plain_english_passes(text: str) -> None:
    assert list(problems(text)) == []


def test_what_proselint_knows_is_found() -> None:
    assert list(problems("The very unique solution is in a word perfect.")) != []


def test_messages_of_code_are_read_and_docstrings_are_not() -> None:
    code = '"""It is told of which."""\n\nERROR = "the table is no file of the lake"\n'

    assert [line for line, _ in problems_of_code(code)] == [3]


def test_messages_of_data_are_read_and_names_are_not() -> None:
    data = '{"is no": 1,\n "why": "it is \\"no\\" a",\n "do": "the table is no file of the lake"}'

    assert [line for line, _ in problems_of_data(data)] == [3]
