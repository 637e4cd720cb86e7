"""Connections of a stage and of the app, and the stages that allow no other network."""

import json

import pytest

from tests.fixtures.pipelines import Declared, stage_of
from tidemark.constructs import GlueArguments
from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth


@pytest.fixture
def declared(cdk, tmp_path):
    return Declared(cdk, tmp_path)


def connections_of(declared):
    return {
        job["Name"]: job.get("Connections", {}).get("Connections", [])
        for job in declared.resources("AWS::Glue::Job")
    }


def actions_of(declared):
    (role,) = declared.resources("AWS::IAM::Role")
    return json.dumps(role["Policies"])


def test_jobs_have_the_connections_of_the_stage_unless_they_name_their_own_or_none(declared):
    pipeline = declared.pipeline(stage=stage_of(connections=("office",)))

    declared.add(pipeline, "default")
    declared.add(pipeline, "own", connections=["database"])
    declared.add(pipeline, "none", connections=[])

    assert connections_of(declared) == {"default": ["office"], "own": ["database"], "none": []}


def test_the_role_may_use_a_connection_of_the_stage(declared):
    declared.add(declared.pipeline(stage=stage_of(connections=("office",))))

    assert "connection/office" in actions_of(declared)


@pytest.mark.parametrize("given", [None, []], ids=["nothing", "no connection"])
def test_a_stage_that_is_vpc_only_has_no_job_without_a_connection(declared, given):
    pipeline = declared.pipeline(stage=stage_of(vpc_only=True))

    with pytest.raises(JobDefinitionError, match="job 'one' has no connection, and the stage says"):
        declared.add(pipeline, connections=given)
    declared.add(pipeline, connections=["office"])


def test_connections_that_the_app_makes_are_passed_as_they_are(declared):
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_glue as glue

    database = glue.CfnConnection(
        declared.stack,
        "Database",
        catalog_id=declared.stack.account,
        connection_input=glue.CfnConnection.ConnectionInputProperty(
            connection_type="JDBC",
            connection_properties={
                "JDBC_CONNECTION_URL": "jdbc:postgresql://db/air",
                "SECRET_ID": "air/reader",
            },
        ),
    )
    vpc = ec2.Vpc.from_vpc_attributes(
        declared.stack,
        "Vpc",
        vpc_id="vpc-1",
        availability_zones=["eu-west-1a"],
        private_subnet_ids=["subnet-1"],
        private_subnet_route_table_ids=["rtb-1"],
    )
    network = glue.Connection(
        declared.stack,
        "Network",
        type=glue.ConnectionType.NETWORK,
        network=glue.ConnectionNetwork.subnet(vpc.private_subnets[0]),
    )

    declared.add(declared.pipeline(), connections=[database, network])

    made = set(declared.template("AWS::Glue::Connection"))
    assert {joined["Ref"] for joined in connections_of(declared)["one"]} == made
    allowed = actions_of(declared)
    assert all(name in allowed for name in made)
    assert "secret:air/reader-??????" in allowed


AIR = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:air-a1b2c3"


@pytest.mark.parametrize(
    "settings",
    [
        {"connection_properties": {"SparkProperties": json.dumps({"secretId": AIR})}},
        {"connection_properties": {"KAFKA_SASL_SCRAM_SECRETS_ARN": AIR}},
        {"spark_properties": {"secretId": AIR}},
        {"authentication_configuration": AIR},
    ],
)
def test_the_role_may_read_the_secret_of_a_connection_wherever_it_names_one(declared, settings):
    from aws_cdk import aws_glue as glue

    if given := settings.get("authentication_configuration"):
        settings = {
            "authentication_configuration": glue.CfnConnection.AuthenticationConfigurationProperty(
                authentication_type="OAUTH2", secret_arn=given
            )
        }
    database = glue.CfnConnection(
        declared.stack,
        "Database",
        catalog_id=declared.stack.account,
        connection_input=glue.CfnConnection.ConnectionInputProperty(
            connection_type="KAFKA", **settings
        ),
    )
    declared.add(declared.pipeline(), connections=[database])

    assert AIR in actions_of(declared)


def test_a_connection_that_names_its_secret_by_a_part_of_its_arn_is_refused(declared):
    from aws_cdk import aws_glue as glue

    given = glue.CfnConnection.ConnectionInputProperty(
        connection_type="JDBC",
        connection_properties={"SECRET_ID": "arn:aws:secretsmanager:eu-west-1:1:secret:air-a1b2c3"},
    )
    database = glue.CfnConnection(
        declared.stack, "Database", catalog_id=declared.stack.account, connection_input=given
    )

    with pytest.raises(JobDefinitionError, match="allowed: the name of a secret in Sec"):
        declared.add(declared.pipeline(), connections=[database])


def test_what_is_no_name_of_a_connection_is_refused_in_one_line(declared):
    with pytest.raises(JobDefinitionError, match="allowed: a list of names of Glue") as error:
        declared.add(declared.pipeline(), connections=["a:b"])
    assert "\n" not in str(error.value)


def test_a_stage_without_public_packages_installs_wheels_and_asks_no_index(declared):
    pipeline = declared.pipeline(stage=stage_of(public_packages=False))
    wheel = "s3://wheels/mine-1.0-py3-none-any.whl"

    with pytest.raises(JobDefinitionError, match=r"pyarrow==21\.0\.0', with which"):
        declared.add(pipeline, python_modules=[wheel, "pyarrow==21.0.0"])
    declared.add(pipeline, "none")
    declared.add(pipeline, "wheels", python_modules=[wheel])

    options = {
        job["Name"]: job["DefaultArguments"].get("--python-modules-installer-option")
        for job in declared.resources("AWS::Glue::Job")
    }
    assert options == {"none": None, "wheels": "--no-index --no-deps"}


@pytest.mark.parametrize(
    "option",
    [
        "--index-url https://packages.bank.example/simple",
        "--index-url=https://packages.bank.example/simple --no-deps",
    ],
)
def test_a_stage_without_public_packages_takes_an_index_of_ones_own(declared, option):
    pipeline = declared.pipeline(stage=stage_of(public_packages=False))
    arguments = GlueArguments(python_modules_installer_option=option)
    declared.add(pipeline, python_modules=["pyarrow==21.0.0"], glue_arguments=arguments)

    (job,) = declared.resources("AWS::Glue::Job")
    assert job["DefaultArguments"]["--python-modules-installer-option"] == option


@pytest.mark.parametrize(
    ("modules", "option"),
    [
        (["pyarrow==21.0.0"], "--no-deps"),
        (["pyarrow==21.0.0"], "--no-index"),
        (["s3://wheels/mine-1.0-py3-none-any.whl"], "--upgrade"),
        (["pyarrow==21.0.0"], "--index-url https://pypi.org/simple"),
        (
            ["pyarrow==21.0.0"],
            "--index-url https://packages.bank.example --extra-index-url https://x.example",
        ),
    ],
)
def test_options_of_pip_do_not_lead_to_a_public_index(declared, modules, option):
    pipeline = declared.pipeline(stage=stage_of(public_packages=False))
    arguments = GlueArguments(python_modules_installer_option=option)

    with pytest.raises(JobDefinitionError, match="asks a public index of packages"):
        declared.add(pipeline, python_modules=modules, glue_arguments=arguments)


@pytest.mark.parametrize("by_override", [False, True])
def test_a_connection_with_a_password_in_clear_is_refused(declared, by_override):
    from aws_cdk import aws_glue as glue

    properties = {"JDBC_CONNECTION_URL": "jdbc:postgresql://db/air", "USERNAME": "me"}
    database = glue.CfnConnection(
        declared.stack,
        "Database",
        catalog_id=declared.stack.account,
        connection_input=glue.CfnConnection.ConnectionInputProperty(
            connection_type="JDBC",
            connection_properties=properties if by_override else {**properties, "PASSWORD": "x7"},
        ),
    )
    if by_override:
        database.add_property_override("ConnectionInput.ConnectionProperties.PASSWORD", "x7")
    declared.add(declared.pipeline(), connections=[database])

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        declared.stack.node.root.synth()
