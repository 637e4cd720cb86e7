"""What a role may do in the network of a connection: in its subnet, with its groups only."""

import pytest

from tests.fixtures.pipelines import ACCOUNT, REGION, Declared, stage_of
from tidemark.constructs.security.network_check import OTHER_SUBNET, problems_of_networks
from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth
EC2 = f"arn:aws:ec2:{REGION}:{ACCOUNT}:"
SHARED = f"arn:aws:ec2:{REGION}:*:"  # of the account that shares the VPC
INTERFACES = f"{EC2}network-interface/*"


@pytest.fixture
def declared(cdk, tmp_path):
    return Declared(cdk, tmp_path)


def text(value):
    """Return an ARN with its functions in angle brackets."""
    match value:
        case {"Fn::Join": [_, parts]}:
            return "".join(map(text, parts))
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [id_, name]}:
            return f"<{id_}.{name}>"
    return str(value)


def network_statements(declared):
    """Return action to resources and condition, of what the one role may do by EC2."""
    roles = declared.resources("AWS::IAM::Role")
    (role,) = [role for role in roles if "Glue" in role["Description"]]
    found = {}
    for policy in role["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            actions, resources = (
                one if isinstance(one, list) else [one]
                for one in (statement["Action"], statement["Resource"])
            )
            for action in actions:
                if action.startswith("ec2:"):
                    found[action] = (
                        sorted(map(text, resources)),
                        statement.get("Condition"),
                    )
    return found


def connection(declared, id_="Db", **requirements):
    from aws_cdk import aws_glue as glue

    made = glue.CfnConnection.PhysicalConnectionRequirementsProperty(**requirements)
    return glue.CfnConnection(
        declared.stack,
        id_,
        catalog_id=ACCOUNT,
        connection_input=glue.CfnConnection.ConnectionInputProperty(
            connection_type="JDBC",
            physical_connection_requirements=made if requirements else None,
        ),
    )


def run_in(declared, kind, *connections):
    pipeline = declared.pipeline()
    if kind == "job":
        declared.add(pipeline, connections=list(connections))
    elif kind == "shell job":
        pipeline.add_shell_job("one", script="job.py", connections=list(connections))
    else:
        from tidemark.constructs import CrawledDatabase

        targets = [CrawledDatabase(one, "shop/%") for one in connections]
        pipeline.add_crawler("one", targets=targets, database="sales")


@pytest.mark.parametrize("kind", ["job", "shell job", "crawler"])
def test_interfaces_are_made_in_the_subnet_of_a_connection_of_the_app(declared, kind):
    run_in(
        declared,
        kind,
        connection(declared, subnet_id="subnet-1", security_group_id_list=["sg-1", "sg-2"]),
    )

    found = network_statements(declared)
    made, condition = found["ec2:CreateNetworkInterface"]
    assert sorted(made) == [
        f"{SHARED}security-group/sg-1",
        f"{SHARED}security-group/sg-2",
        f"{SHARED}subnet/subnet-1",
        INTERFACES,
    ]
    assert condition is None
    deleted, where = found["ec2:DeleteNetworkInterface"]
    assert deleted == [INTERFACES]
    assert where == {"ArnEquals": {"ec2:Subnet": [f"{SHARED}subnet/subnet-1"]}}


def test_tags_of_interfaces_are_only_glue_s_and_a_request_names_them(declared):
    run_in(declared, "job", connection(declared, subnet_id="s", security_group_id_list=["g"]))

    found = network_statements(declared)
    for action in ("ec2:CreateTags", "ec2:DeleteTags"):
        resources, condition = found[action]
        assert resources == [INTERFACES]
        assert condition == {
            "ForAllValues:StringEquals": {"aws:TagKeys": ["aws-glue-service-resource"]},
            "Null": {"aws:TagKeys": "false"},
        }


def test_a_network_of_the_app_is_named_by_reference(declared):
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_glue as glue

    vpc = ec2.Vpc(declared.stack, "Vpc", max_azs=1, nat_gateways=0)
    group = ec2.SecurityGroup(declared.stack, "Group", vpc=vpc)
    made = glue.Connection(
        declared.stack,
        "Network",
        type=glue.ConnectionType.NETWORK,
        network=glue.ConnectionNetwork.subnet(vpc.public_subnets[0]),
        security_groups=[group],
    )
    declared.add(declared.pipeline(), connections=[made])

    used, _ = network_statements(declared)["ec2:CreateNetworkInterface"]
    subnet = declared.stack.resolve(vpc.public_subnets[0].subnet_id)["Ref"]
    (group_id,) = declared.template("AWS::EC2::SecurityGroup")
    assert sorted(used) == [
        f"{SHARED}security-group/<{group_id}.GroupId>",
        f"{SHARED}subnet/<{subnet}>",
        INTERFACES,
    ]


@pytest.mark.parametrize("by_name", ["office", "object"])
def test_of_a_connection_that_is_known_by_name_the_network_is_not(declared, by_name):
    from aws_cdk import aws_glue as glue

    own = connection(declared, subnet_id="subnet-1", security_group_id_list=["sg-1"])
    given = "office"
    if by_name == "object":
        given = glue.Connection.from_connection_name(declared.stack, "Office", "office")
    declared.add(declared.pipeline(), connections=[own, given])

    found = network_statements(declared)
    assert found["ec2:CreateNetworkInterface"] == (
        [f"{SHARED}security-group/*", f"{SHARED}subnet/*", INTERFACES],
        None,
    )
    assert found["ec2:DeleteNetworkInterface"] == ([INTERFACES], None)


def test_two_connections_of_the_app_may_both_be_joined(declared):
    one = connection(declared, "A", subnet_id="subnet-1", security_group_id_list=["sg-1"])
    other = connection(declared, "B", subnet_id="subnet-2", security_group_id_list=["sg-1"])
    declared.add(declared.pipeline(), connections=[one, other])

    made, _ = network_statements(declared)["ec2:CreateNetworkInterface"]
    assert sorted(made) == [
        f"{SHARED}security-group/sg-1",
        f"{SHARED}subnet/subnet-1",
        f"{SHARED}subnet/subnet-2",
        INTERFACES,
    ]


def test_a_connection_without_a_network_needs_no_interface(declared):
    declared.add(declared.pipeline(), connections=[connection(declared)])

    found = network_statements(declared)
    assert found
    assert all(action.startswith("ec2:Describe") for action in found)


def test_groups_that_only_a_deployment_knows_are_not_counted(declared, cdk):
    groups = cdk.Fn.split(",", cdk.Fn.import_value("groups"))
    declared.add(
        declared.pipeline(),
        connections=[connection(declared, subnet_id="subnet-1", security_group_id_list=groups)],
    )

    made, _ = network_statements(declared)["ec2:CreateNetworkInterface"]
    assert f"{SHARED}subnet/subnet-1" in made
    assert f"{SHARED}security-group/*" in made


def test_in_a_stage_that_is_vpc_only_a_connection_has_a_network(declared):
    pipeline = declared.pipeline(stage=stage_of(vpc_only=True))
    outside, inside = connection(declared), connection(declared, "Inside", subnet_id="subnet-1")

    with pytest.raises(JobDefinitionError, match="no connection with a subnet"):
        declared.add(pipeline, "one", connections=[outside])
    declared.add(pipeline, "two", connections=[outside, inside])
    declared.add(pipeline, "three", connections=["office"])


def test_an_override_of_the_subnet_is_refused_since_the_policy_does_not_follow_it(declared):
    own = connection(declared, subnet_id="subnet-1", security_group_id_list=["sg-1"])
    path = "ConnectionInput.PhysicalConnectionRequirements.SubnetId"
    own.add_property_override(path, "subnet-2")
    declared.add(declared.pipeline(), connections=[own])

    with pytest.raises(RuntimeError, match=r"subnet-2(.|\n)*connection-subnet"):
        declared.app.synth()


def test_an_override_of_the_security_groups_is_refused_likewise(declared):
    own = connection(declared, subnet_id="subnet-1", security_group_id_list=["sg-1", "sg-2"])
    path = "ConnectionInput.PhysicalConnectionRequirements.SecurityGroupIdList"
    own.add_property_override(path, ["sg-2", "sg-3"])
    declared.add(declared.pipeline(), connections=[own])

    with pytest.raises(RuntimeError, match=r"security group sg-3(.|\n)*connection-subnet"):
        declared.app.synth()


def test_groups_that_a_list_of_another_stack_says_are_no_override(declared, cdk):
    groups = cdk.Fn.split(",", cdk.Fn.import_value("groups"))
    own = connection(declared, subnet_id="subnet-1", security_group_id_list=groups)
    declared.add(declared.pipeline(), connections=[own])

    declared.app.synth()


@pytest.mark.parametrize(("subnet", "found"), [("subnet-1", []), ("subnet-2", [OTHER_SUBNET])])
def test_what_a_role_may_do_counts_in_all_its_policies(subnet, found):
    def document(action, resource):
        statement = {"Effect": "Allow", "Action": action, "Resource": resource}
        return {"PolicyDocument": {"Statement": [statement]}}

    use = document("glue:GetConnection", {"Fn::Join": ["", ["arn::connection/", {"Ref": "Db"}]]})
    required = {"PhysicalConnectionRequirements": {"SubnetId": subnet}}
    resources = {
        "Db": {"Type": "AWS::Glue::Connection", "Properties": {"ConnectionInput": required}},
        "Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "Policies": [use],
                "ManagedPolicyArns": [{"Ref": "More"}, {"Ref": "Given"}, "arn:aws:x"],
            },
        },
        "More": {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": document("ec2:CreateNetworkInterface", [f"{SHARED}subnet/subnet-1"]),
        },
        "Other": {"Type": "AWS::IAM::Role", "Properties": {}},
    }

    problems = problems_of_networks({"stack": {"Resources": resources}})

    assert [problem.rule for problem in problems] == found
