"""Tables that a run on this machine would stop at are known before it starts."""

from tidemark.checks.unserved_tables import unserved_tables
from tidemark.model.assembly.cloud_assembly import Assembly, FileAsset, Stack
from tidemark.model.assembly.template import read_deployment

SCRIPT = """
TABLE = "revenue"
one = context.create_dynamic_frame.from_catalog(database="sales", table_name=TABLE)
two = context.create_dynamic_frame.from_catalog("sales", "orders", transformation_ctx="x")
three = context.create_data_frame.from_catalog(
    database=args["db"], table_name="rates", catalog_id="999988887777"
)
four = context.create_dynamic_frame.from_catalog(database="sales", table_name=args["table"])
context.write_dynamic_frame.from_catalog(one, database="sales", table_name="revenue")
"""


def table(name, **parameters):
    given = {
        "Name": name,
        "PartitionKeys": [{"Name": "day", "Type": "string"}],
        "Parameters": parameters,
    }
    return {
        "Type": "AWS::Glue::Table",
        "Properties": {"DatabaseName": "sales", "TableInput": given},
    }


def found_in(tmp_path, text):
    script = tmp_path / "job.py"
    script.write_text(text)
    job = {
        "Name": "report",
        "Command": {"Name": "glueetl", "ScriptLocation": "s3://assets/job.py"},
        "DefaultArguments": {"--db": "abroad"},
    }
    resources = {
        "Job": {"Type": "AWS::Glue::Job", "Properties": job},
        "Orders": table("orders"),
        "Revenue": table("revenue", **{"projection.enabled": "true"}),
    }
    asset = FileAsset(script, False, {"Fn::Sub": "assets"}, "job.py")
    assembly = Assembly((Stack("app", {"Resources": resources}),), (asset,))
    return unserved_tables(read_deployment(assembly, "eu-west-1"), assembly.assets)


def test_projected_tables_and_those_of_other_accounts_are_told_once(tmp_path):
    found = found_in(tmp_path, SCRIPT * 2)

    assert [text.partition(", ")[0] for text in found] == [
        "job report reads the table sales.revenue by the catalog",
        "job report reads the table abroad.rates of account 999988887777",
    ]


def test_a_script_that_is_no_program_is_left_to_its_run(tmp_path):
    assert found_in(tmp_path, "from_catalog((") == []
