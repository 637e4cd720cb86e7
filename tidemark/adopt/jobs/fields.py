"""The properties of a job of Glue that `add_job` cannot say, with remedies: a table.

Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html,
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html
"""

FACT = ("it describes the past, not a declaration", "nothing")

FIELDS: dict[str, tuple[str, str]] = {
    "AllocatedCapacity": ("AWS replaced it by MaxCapacity and workers", "nothing"),
    "AutoUpgradeMetadata": FACT,
    "CodeGenConfigurationNodes": (
        "it is the drawing of a visual job; the script that Glue Studio generated from it runs",
        "edit the script from now on; the drawing stays with the old job",
    ),
    "Connections": (
        "a name of a connection has up to 255 characters, and none of * ? : /",
        "create a connection with another name, and name it in connections=",
    ),
    "CreatedOn": FACT,
    "Description": ("a description has 1 to 2,048 characters", "write another, in options="),
    "ExecutionClass": ("it is unknown here; the job gets STANDARD", "look it up in AWS's guide"),
    "ExecutionProperty": (
        "the job gets MaxConcurrentRuns 1: two runs at once would break its bookmark or watermarks",
        "if runs with other arguments overlap, declare one job for each",
    ),
    "JobMode": (
        "it describes how the script was written",
        "nothing: from now on it is edited as a file",
    ),
    "LastModifiedOn": FACT,
    "LogUri": ("AWS reserved the field and does not use it", "nothing"),
    "MaintenanceWindow": ("it is for streaming jobs", "nothing"),
    "NonOverridableArguments": (
        "it may name arguments of the script, each once, and no secret",
        "name it in arguments=, and in non_overridable of options=",
    ),
    "NotificationProperty": (
        "Glue reports runs longer than a time below the timeout; the job gets half of that",
        "set notify_after_minutes in options=, if rules of EventBridge count on it",
    ),
    "ProfileName": (
        "a usage profile limits what people may set; the app's own limits are its review",
        "keep the profile for jobs that are still created by hand",
    ),
    "Role": (
        "the job gets its own role, which allows what the job declares and nothing else",
        "compare its policies with those of the old role, and declare what is missing: reads=, "
        "writes=, tables=, secrets=, connections=",
    ),
    "SecurityConfiguration": (
        "the pipeline has its own, which encrypts logs, bookmarks and what jobs write to S3 with "
        "its key",
        "let everyone who reads the job's output use that key (kms:Decrypt) before it runs",
    ),
    "SourceControlDetails": (
        "scripts come from the repository of the app",
        "stop pushes of scripts to the job from elsewhere",
    ),
    "Tags": ("AWS, or the pipeline, sets tags that start so", "nothing"),
}
OF_SHELL = ("Python shell jobs have a capacity instead", "nothing")
FIELDS |= {"NumberOfWorkers": OF_SHELL, "WorkerType": OF_SHELL}
UNKNOWN = (
    "this version of tidemark does not know it",
    "look it up in AWS's guide, and set it on job.resource if it matters",
)

# Arguments that the constructs set themselves, or that no job may have.
ARGUMENTS: dict[str, tuple[str, str]] = {
    "--additional-python-modules": (
        "packages are declared with a version each, or as wheels in S3, so that builds repeat",
        "find the versions of the last good run in its log, and name them in python_modules=",
    ),
    "--enable-metrics": (
        "metrics are turned on for a whole stage",
        'set "metrics": true in the stage in cdk.json',
    ),
    "--job-bookmark-from": (
        "it names a run of the old job, which the new one does not know",
        "pass it to a single run by hand, with ids of runs of the new job",
    ),
}
ARGUMENTS["--job-bookmark-to"] = ARGUMENTS["--job-bookmark-from"]
NO_VALUE = (
    "getResolvedOptions takes it for no value",
    "leave it out, and let the script have a default; or write the value in another form",
)
SECRET = (
    "everyone who can see the job would see it",
    "put it into Secrets Manager, name it in secrets=, and let the script read it from there; then "
    "change it, since it was open",
)
NOT_A_NAME = (
    "arguments are named with letters, digits and _, a letter first, and none that Glue passes",
    "give it another name, here and in the script",
)
