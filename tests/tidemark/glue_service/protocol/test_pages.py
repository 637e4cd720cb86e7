"""Pages of answers, while what they list changes."""

from __future__ import annotations

import base64

import pytest

from tidemark.glue_service.protocol.pages import page
from tidemark.glue_service.protocol.service_errors import ServiceError


def text(item):
    return item


def read_all(items, change):
    """Return what a client reads in pages of two, and changes after each."""
    found, token = [], None
    while True:
        one_page, token = page(items, token, 2, key=text)
        found += one_page
        if token is None:
            return found
        change(items, one_page)


def test_a_client_that_deletes_what_it_reads_reads_all():
    def delete(items, one_page):
        for item in one_page:
            items.remove(item)

    assert read_all(list("abcdefg"), delete) == list("abcdefg")


def test_what_comes_first_meanwhile_shifts_no_page():
    newest_first = ["3", "2", "1", "0"]

    assert read_all(newest_first, lambda items, _: items.insert(0, "new")) == ["3", "2", "1", "0"]


MANY_DIGITS = base64.urlsafe_b64encode(b"from " + b"9" * 5000).decode()


@pytest.mark.parametrize("token", ["no", "ZnJvbSB4", "YmVoaW5kIGE=", MANY_DIGITS])
def test_a_token_that_no_answer_gave_is_refused(token):
    with pytest.raises(ServiceError, match="leave it out"):
        page(["a", "b"], token, 1)
