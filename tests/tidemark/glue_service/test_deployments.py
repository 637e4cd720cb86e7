"""Apps that are deployed on the port one after the other."""

from __future__ import annotations

import json

import pytest

from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.deployments import deploy_on_port


def test_of_two_stages_with_names_alike_the_last_one_deployed_has_them(port, write_assembly):
    def deploy(stack, *jobs):
        folder = write_assembly(dict.fromkeys(jobs, ""), {name: ["one"] for name in jobs[1:]})
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        manifest["artifacts"]["stack"]["properties"]["stackName"] = stack
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        port.engine.ask(lambda glue: deploy_on_port(glue, folder))
        found = port.glue.get_triggers()["Triggers"]
        return sorted(trigger["Name"] for trigger in found)

    port.job("mine")
    port.glue.create_trigger(Name="mine", Type="ON_DEMAND", Actions=[{"JobName": "mine"}])

    assert deploy("app-dev", "one", "two") == ["app-dev-beforetwo", "app-dev-start", "mine"]
    assert deploy("app-prod", "one", "three") == ["app-prod-beforethree", "app-prod-start", "mine"]
    assert deploy("app-dev", "one") == ["app-dev-start", "mine"]


TABLE = {
    "Type": "AWS::Glue::Table",
    "Properties": {
        "CatalogId": {"Ref": "AWS::AccountId"},
        "DatabaseName": {"Ref": "Shop"},
        "TableInput": {
            "Name": "orders",
            "TableType": "EXTERNAL_TABLE",
            "StorageDescriptor": {
                "Location": {"Fn::Sub": "s3://${Landing}/orders/"},
                "Columns": [{"Name": "id", "Type": "bigint"}],
            },
        },
        "OpenTableFormatInput": {"IcebergInput": {"MetadataOperation": "CREATE", "Version": "2"}},
    },
}
SHOP = {
    "Type": "AWS::Glue::Database",
    "Properties": {"CatalogId": "000000000000", "DatabaseInput": {"Name": "shop"}},
}


def test_a_table_of_iceberg_in_a_template_is_one_here_and_stays_as_jobs_left_it(
    port, write_assembly
):
    folder = write_assembly({"one": ""}, others={"Shop": SHOP, "Orders": TABLE})

    def parameters():
        port.engine.ask(lambda glue: deploy_on_port(glue, folder))
        found = port.glue.get_table(DatabaseName="shop", Name="orders")["Table"]
        return found["Parameters"]

    first = parameters()

    assert first["table_type"] == "ICEBERG"
    assert port.home.local_path(first["metadata_location"]).is_file()
    assert parameters() == first


def test_a_table_of_iceberg_that_aws_would_refuse_stops_the_deployment(port, write_assembly):
    input_ = {**TABLE["Properties"]["TableInput"], "TableType": "MANAGED", "Name": "other"}
    resource = {**TABLE, "Properties": {**TABLE["Properties"], "TableInput": input_}}
    folder = write_assembly({"one": ""}, others={"Shop": SHOP, "Orders": resource})

    with pytest.raises(TidemarkError, match="has to be EXTERNAL_TABLE"):
        port.engine.ask(lambda glue: deploy_on_port(glue, folder))


def test_a_rule_that_a_client_has_made_is_not_replaced(port, write_assembly):
    events = port.client("events")
    pattern = json.dumps({"source": ["mine"]})
    rule = {
        "Type": "AWS::Events::Rule",
        "Properties": {"Name": "r", "EventPattern": {"source": ["a"]}},
    }
    folder = write_assembly({"one": ""}, others={"Rule": rule})
    events.put_rule(Name="r", EventPattern=pattern)

    with pytest.raises(UsageError, match="there is a rule r that no deployment has made"):
        port.engine.ask(lambda glue: deploy_on_port(glue, folder))
    assert events.describe_rule(Name="r")["EventPattern"] == pattern
    events.delete_rule(Name="r")
    for _ in range(2):
        port.engine.ask(lambda glue: deploy_on_port(glue, folder))

    assert json.loads(events.describe_rule(Name="r")["EventPattern"]) == {"source": ["a"]}
