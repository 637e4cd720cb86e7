"""What IAM allows a job in the Data Catalog is what it declares, for any declaration."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.sampled_from(["orders", "customers", "order_lines"])
ACCOUNT, OTHER = "111111111111", "222222222222"
READ = ("BatchGetPartition", "GetDatabase", "GetPartition", "GetPartitions", "GetTable")
WRITE = ("BatchCreatePartition", "BatchDeletePartition", "CreatePartition")
WRITE += ("DeletePartition", "UpdatePartition", "UpdateTable")


@pytest.fixture(scope="module")
def stack(cdk):
    """Return a stack of a known account and region."""
    environment = cdk.Environment(account=ACCOUNT, region="eu-west-1")
    return cdk.Stack(cdk.App(analytics_reporting=False), "catalog", env=environment)


@st.composite
def uses(draw):
    from tidemark.constructs import TableUse

    write = draw(st.booleans())
    return TableUse(
        f"{draw(st.sampled_from(['sales', 'mart']))}.{draw(NAMES)}",
        write=write,
        create=write and draw(st.booleans()),
        catalog_id=draw(st.sampled_from(["", OTHER])),
    )


def allowed_by(stack, drawn):
    """Return what is allowed, as (action, account, table); a wildcard stays one."""
    from tidemark.constructs.catalog.permissions import use_tables

    allowed = set()
    for statement in stack.resolve(use_tables(stack, drawn)):
        for arn in statement["Resource"]:
            text = "".join(part for part in arn["Fn::Join"][1] if isinstance(part, str))
            *_, region, account, resource = text.split(":")
            assert (region, "*" in resource) == ("eu-west-1", False)
            if resource.startswith("table/"):
                allowed |= {
                    (action.removeprefix("glue:"), account, resource.removeprefix("table/"))
                    for action in statement["Action"]
                }
            else:
                databases = {
                    use.database for use in drawn if (use.catalog_id or ACCOUNT) == account
                }
                assert resource in {"catalog", *(f"database/{name}" for name in databases)}
    return allowed


@given(st.data())
def test_each_table_is_granted_what_is_declared_of_it_and_nothing_else_is(stack, data):
    by_table = st.lists(uses(), max_size=6, unique_by=lambda use: (use.table, use.catalog_id))
    drawn = data.draw(by_table)

    expected = {
        (action, use.catalog_id or ACCOUNT, use.table.replace(".", "/"))
        for use in drawn
        for action in (
            *READ,
            *(WRITE if use.write else ()),
            *(["CreateTable"] if use.create else ()),
        )
    }
    assert allowed_by(stack, drawn) == expected
