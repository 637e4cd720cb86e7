"""Outputs that pages of AWS print, of scripts as they stand there; each test names its page.

The order of fields after a join or a map is that of a hash map on AWS: blocks of fields are
compared in any order, and everything else as it is printed.
"""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.spark

FRIENDS = """\
{"name": "Sally", "age": 23, "location": {"state": "WY", "county": "Fremont"}, "friends": []}
{"name": "Varun", "age": 34, "location": {"state": "NE", "county": "Douglas"}, \
"friends": [{"name": "Arjun", "age": 3}]}
{"name": "George", "age": 52, "location": {"state": "NY"}, \
"friends": [{"name": "Fred"}, {"name": "Amy", "age": 15}]}
{"name": "Haruki", "age": 21, "location": {"state": "AK", "county": "Denali"}}
{"name": "Sheila", "age": 63, "friends": [{"name": "Nancy", "age": 22}]}
"""
PERSONS = """\
{"family_name": "Collins", "name": "Mac Collins", "links": [{"note": "n", "url": "u"}], \
"gender": "male", "image": "i", "identifiers": [{"scheme": "s", "identifier": "1"}], \
"other_names": [{"note": "n", "name": "m", "lang": "en"}], "sort_name": "c", \
"images": [{"url": "u"}], "given_name": "Michael", "birth_date": "1944-10-15", "id": "p1", \
"contact_details": [{"type": "fax", "value": "202-225-1314"}, \
{"type": "phone", "value": "202-225-3772"}], "death_date": "2018"}
{"family_name": "Huizenga", "name": "Bill", "given_name": "Bill", "id": "p2", \
"contact_details": [{"type": "twitter", "value": "MikeRossUpdates"}]}
"""
MEMBERSHIPS = """\
{"area_id": "a", "on_behalf_of_id": "party/x", "organization_id": "o1", "role": "r", \
"person_id": "p1", "legislative_period_id": "term/1", "start_date": "1", "end_date": "2"}
{"area_id": "b", "organization_id": "o1", "role": "r", "person_id": "p2"}
"""
ORGANIZATIONS = """\
{"classification": "legislature", \
"identifiers": [{"scheme": "s", "identifier": "1"}], \
"other_names": [{"lang": "en", "note": "n", "name": "m"}], "id": "o1", \
"name": "House of Representatives", "seats": 435, "type": "lower house"}
{"classification": "party", "links": [{"note": "n", "url": "u"}], "image": "i", "id": "party/x", \
"name": "Unjoined"}
"""
PROVIDERS = """\
DRG Definition,Provider Id,Provider Name,Provider Street Address,Provider City,Provider State,\
Provider Zip Code
039,10001,SOUTHEAST,1108 ROSS CLARK CIRCLE,DOTHAN,AL,36301
"""
ADDRESS = """\
|-- {}: struct
|    |-- Street: string
|    |-- City: string
|    |-- State: string
|    |-- Zip.Code: string
|    |-- Array: array
|    |    |-- element: string"""


@pytest.fixture
def read(glue_context, s3):
    """Return a reader of text that it puts into a file first."""

    def read(text, kind="json", **format_options):
        s3.put(f"{len(text)}/data", text)
        paths = {"paths": [f"{s3.uri}{len(text)}/"]}
        return glue_context.create_dynamic_frame.from_options("s3", paths, kind, format_options)

    return read


@pytest.fixture
def history(read):
    """Return the frame of all memberships, as the sample makes it."""
    from awsglue.transforms import Join

    persons, memberships, orgs = read(PERSONS), read(MEMBERSHIPS), read(ORGANIZATIONS)
    orgs = orgs.drop_fields(["other_names", "identifiers"])
    orgs = orgs.rename_field("id", "org_id").rename_field("name", "org_name")
    return Join.apply(
        orgs, Join.apply(persons, memberships, "id", "person_id"), "org_id", "organization_id"
    ).drop_fields(["person_id", "org_id"])


def blocks(text):
    """Return the fields of a printed schema with what is below them, in any order."""
    return sorted(re.split(r"\n(?=\|-- )", text))


@pytest.mark.rule("Frames", source="DYF")
def test_drop_fields_of_the_friends(read, printed):
    friends = read(FRIENDS)

    assert printed(friends) == (
        "|-- name: string\n"
        "|-- age: int\n"
        "|-- location: struct\n"
        "|    |-- state: string\n"
        "|    |-- county: string\n"
        "|-- friends: array\n"
        "|    |-- element: struct\n"
        "|    |    |-- name: string\n"
        "|    |    |-- age: int"
    )
    assert printed(friends.drop_fields(paths=["age", "location.county", "friends.age"])) == (
        "|-- name: string\n"
        "|-- location: struct\n"
        "|    |-- state: string\n"
        "|-- friends: array\n"
        "|    |-- element: struct\n"
        "|    |    |-- name: string"
    )


@pytest.mark.nightly
@pytest.mark.rule("Frames", source="DYF")
def test_join_and_relationalize_of_the_legislators(history, printed):
    """Of the page and of aws-glue-samples, examples/join_and_relationalize.md."""
    texts = (
        "role org_name type sort_name area_id on_behalf_of_id name birth_date organization_id "
        "gender classification death_date legislative_period_id image given_name family_name id "
        "start_date end_date"
    )
    struct = "|-- {}: array\n|    |-- element: struct\n{}"
    arrays = {
        "links": ("note", "url"),
        "images": ("url",),
        "other_names": ("note", "name", "lang"),
        "contact_details": ("type", "value"),
        "identifiers": ("scheme", "identifier"),
    }
    assert blocks(printed(history)) == sorted(
        [
            *[f"|-- {name}: string" for name in texts.split()],
            "|-- seats: int",
            *[
                struct.format(name, "\n".join(f"|    |    |-- {one}: string" for one in fields))
                for name, fields in arrays.items()
            ],
        ]
    )

    tables = history.relationalize("hist_root", "s3://temp/")
    details = tables.select("hist_root_contact_details")
    chosen = history.select_fields("contact_details")

    assert set(tables.keys()) == {"hist_root", *(f"hist_root_{name}" for name in arrays)}
    assert printed(chosen) == (
        "|-- contact_details: array\n"
        "|    |-- element: struct\n"
        "|    |    |-- type: string\n"
        "|    |    |-- value: string"
    )
    assert printed(details) == (
        "|-- id: long\n"
        "|-- index: int\n"
        "|-- contact_details.val.type: string\n"
        "|-- contact_details.val.value: string"
    )
    halves = details.split_fields(["id", "index"], "left", "right")
    assert printed(halves.select("left")) == "|-- id: long\n|-- index: int"
    assert printed(halves.select("right")) == (
        "|-- contact_details.val.type: string\n|-- contact_details.val.value: string"
    )
    by_person = {
        row["given_name"]: row["contact_details"]
        for row in tables.select("hist_root").toDF().collect()
    }
    rows = details.toDF().where(f"id = {by_person['Michael']}").orderBy("index").collect()
    assert [tuple(row)[1:] for row in rows] == [
        (0, "fax", "202-225-1314"),
        (1, "phone", "202-225-3772"),
    ]


@pytest.mark.rule("Frames", source="DYF")
def test_map_unbox_and_unnest_of_the_providers(read, printed):
    def merge_address(rec):
        rec["Address"] = {}
        rec["Address"]["Street"] = rec["Provider Street Address"]
        rec["Address"]["City"] = rec["Provider City"]
        rec["Address"]["State"] = rec["Provider State"]
        rec["Address"]["Zip.Code"] = rec["Provider Zip Code"]
        rec["Address"]["Array"] = [rec["Provider Street Address"], rec["Provider City"]]
        del rec["Provider Street Address"]
        del rec["Provider City"]
        del rec["Provider State"]
        del rec["Provider Zip Code"]
        return rec

    medicare = read(PROVIDERS, "csv", withHeader=True)
    mapped = medicare.map(f=merge_address)

    assert "|-- Provider Id: string" in printed(medicare)
    assert blocks(printed(mapped)) == sorted(
        [
            *[f"|-- {n}: string" for n in ("DRG Definition", "Provider Id", "Provider Name")],
            ADDRESS.format("Address"),
        ]
    )
    assert blocks(printed(mapped.unnest())) == sorted(
        [
            *[f"|-- {n}: string" for n in ("DRG Definition", "Provider Id", "Provider Name")],
            *[f"|-- Address.{n}: string" for n in ("Street", "City", "State", "Zip.Code")],
            "|-- Address.Array: array\n|    |-- element: string",
        ]
    )


@pytest.mark.rule("Frames", source="DYF")
def test_unbox_of_an_address(rows_of, printed):
    text = (
        '{"Street": "1108 ROSS CLARK CIRCLE", "City": "DOTHAN", "State": "AL", '
        '"Zip.Code": "36301", "Array": ["1108 ROSS CLARK CIRCLE", "DOTHAN"]}'
    )
    mapped_with_string = rows_of("`Provider Id` string, AddressString string", ("10001", text))

    unboxed = mapped_with_string.unbox("AddressString", "json")

    address = ADDRESS.format("AddressString")
    assert printed(unboxed) == f"|-- Provider Id: string\n{address}"
