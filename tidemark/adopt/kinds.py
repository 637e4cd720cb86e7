"""Names the kinds of resources alike, whatever declares them: pure."""

ENDINGS = {"eventrule": "rule", "catalogdatabase": "database", "catalogtable": "table"}
ENDINGS |= {"sfnstatemachine": "statemachine", "principalpermissions": "permissions"}
ENDINGS |= {"lakeformationpermissions": "permissions", "cloudwatcheventrule": "rule"}
ENDINGS |= {"schedulerschedule": "schedule", "lambdafunction": "function", "pipespipe": "pipe"}
ENDINGS |= {"mwaaenvironment": "environment"}
ENDINGS |= {"cloudwatchmetricalarm": "alarm", "cloudwatchcompositealarm": "compositealarm"}
ENDINGS |= {"iamrolepolicy": "policy", "rolepolicy": "policy", "managedpolicy": "policy"}
ENDINGS |= {"iampolicy": "policy", "iamrole": "role", "iamuserpolicy": "policy"}
ENDINGS |= {"userpolicy": "policy", "grouppolicy": "policy", "iamgrouppolicy": "policy"}


def kind_of(type_: str) -> str:
    """Return the kind of a resource, whatever the file calls its type: `job` of `aws_glue_job`."""
    short = type_.rpartition("::")[2] or type_
    short = short.removeprefix("aws_").removeprefix("glue_").replace("_", "").lower()
    return ENDINGS.get(short, short)
