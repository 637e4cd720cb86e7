"""Glue's own arguments."""

from pathlib import Path

import tidemark.constructs as tc
from tests.tidemark.constructs.wrong.world import token

# What is declared, and a part of why it is refused.
WRONG = {
    "ga conf space": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(conf={"spark.a": "b c"})),
        "GlueArguments has conf \"'spark.a' with a value of type str\"",
    ),
    "ga conf empty": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(conf={"spark.a": ""})),
        "GlueArguments has conf \"'spark.a' with a value of type str\"",
    ),
    "ga conf secret": (
        lambda w: w.job(
            glue_arguments=tc.GlueArguments(conf={"spark.hadoop.fs.s3a.secret.key": "abc"})
        ),
        "job 'one' has in conf of its glue_arguments",
    ),
    "ga conf name": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(conf={"--conf": "x"})),
        "GlueArguments has conf \"'--conf' with a value of type str\"",
    ),
    "ga conf newline": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(conf={"spark.a": "b\n--conf"})),
        "GlueArguments has conf \"'spark.a' with a value of type str\"",
    ),
    "ga formats unknown": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(datalake_formats=["parquet"])),
        "GlueArguments has datalake_formats ['parquet']",
    ),
    "ga formats twice": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(datalake_formats=["iceberg", "iceberg"])),
        "GlueArguments has datalake_formats ['iceberg', 'iceberg']",
    ),
    "ga user_jars_first alone": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(user_jars_first=True)),
        "job 'one' has user_jars_first in its glue_arguments and no",
    ),
    "ga stream prefix colon": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(log_stream_prefix="a:b")),
        "GlueArguments has log_stream_prefix 'a:b'",
    ),
    "ga stream prefix empty": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(log_stream_prefix="")),
        "GlueArguments has log_stream_prefix ''",
    ),
    "ga stream prefix 401": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(log_stream_prefix="a" * 401)),
        "GlueArguments has log_stream_prefix",
    ),
    "ga jars missing file": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(extra_jars=[Path("nope.jar")])),
        "job 'one' has the file 'nope.jar' in extra_jars, which is not a",
    ),
    "ga jars dir": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(extra_jars=[Path("libs")])),
        "GlueArguments has extra_jars PosixPath('libs')",
    ),
    "ga jars outside": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(extra_jars=[Path("/etc/hostname")])),
        "GlueArguments has extra_jars PosixPath('/etc/hostname')",
    ),
    "ga jars http": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(extra_jars=["https://x/a.jar"])),
        "GlueArguments has extra_jars 'https://x/a.jar'",
    ),
    "ga jars comma": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(extra_jars=["s3://b/a,b.jar"])),
        "GlueArguments has extra_jars 's3://b/a,b.jar'",
    ),
    "ga jars star": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(extra_jars=["s3://b/*.jar"])),
        "GlueArguments has extra_jars 's3://b/*.jar'",
    ),
    "ga jars rel str": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(extra_jars=["lib/a.jar"])),
        "GlueArguments has extra_jars 'lib/a.jar'",
    ),
    "ga jars not jar": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(extra_jars=["s3://b/a.txt"])),
        "GlueArguments has extra_jars 's3://b/a.txt'",
    ),
    "ga jars twice": (
        lambda w: w.job(
            glue_arguments=tc.GlueArguments(extra_jars=["s3://b/a.jar", "s3://b/a.jar"])
        ),
        "GlueArguments has extra_jars ['s3://b/a.jar', 's3://b/a.jar']",
    ),
    "ga pyfiles jar": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(extra_py_files=["s3://b/a.jar"])),
        "GlueArguments has extra_py_files 's3://b/a.jar'",
    ),
    "ga installer": (
        lambda w: w.job(
            glue_arguments=tc.GlueArguments(python_modules_installer_option="no-index")
        ),
        "GlueArguments has python_modules_installer_option 'no-index'",
    ),
    "ga installer secret": (
        lambda w: w.job(
            glue_arguments=tc.GlueArguments(
                python_modules_installer_option="--index-url=https://u:p@x/simple"
            )
        ),
        "job 'one' has in python_modules_installer_option of its",
    ),
    "ga venv zip": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(python_virtual_env="s3://b/env.zip")),
        "GlueArguments has python_virtual_env 's3://b/env.zip'",
    ),
    "ga venv+cache": (
        lambda w: w.job(
            glue_arguments=tc.GlueArguments(
                python_virtual_env="s3://b/env.tar.gz", python_virtual_env_cache=w.data("c/")
            )
        ),
        "job 'one' has python_virtual_env_cache in its glue_arguments",
    ),
    "ga cache w/o modules": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(python_virtual_env_cache=w.data("c/"))),
        "job 'one' has python_virtual_env_cache in its glue_arguments",
    ),
    "ga venv version alone": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(python_virtual_env_version="1")),
        "job 'one' has python_virtual_env_version in its glue_arguments",
    ),
    "ga executor_cores 0": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(executor_cores=0)),
        "GlueArguments has executor_cores 0",
    ),
    "ga executor_cores 99": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(executor_cores=99)),
        "job 'one' has executor_cores 99 in its glue_arguments and",
    ),
    "ga microbatch etl": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(auto_scale_within_microbatch=True)),
        "job 'one' has auto_scale_within_microbatch in its",
    ),
    "ga lf": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(lakeformation_fine_grained_access=True)),
        "job 'one' has lakeformation_fine_grained_access in its",
    ),
    "ga vars name": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(driver_variables={"PATH": "x"})),
        "GlueArguments has driver_variables \"'PATH' with a value of type",
    ),
    "ga vars quote": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(driver_variables={"CUSTOMER_A": 'x"y'})),
        "GlueArguments has driver_variables \"'CUSTOMER_A' with a value",
    ),
    "ga vars secret": (
        lambda w: w.job(
            glue_arguments=tc.GlueArguments(driver_variables={"CUSTOMER_PASSWORD": "x1"})
        ),
        "job 'one' has in driver_variables of its glue_arguments",
    ),
    "ga other known": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--conf": "x"})),
        "GlueArguments has '--conf' in other, which Glue documents",
    ),
    "ga other no dash": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"new": "x"})),
        "GlueArguments has other \"'new' with a value of type str\"",
    ),
    "ga other ours": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--job-bookmark-option": "x"})),
        "GlueArguments has '--job-bookmark-option' in other, which Glue",
    ),
    "ga other internal": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--debug": "x"})),
        "GlueArguments has '--debug' in other, which Glue documents",
    ),
    "ga other mode": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--mode": "x"})),
        "GlueArguments has '--mode' in other, which Glue documents",
    ),
    "ga other JOB_NAME": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--JOB_NAME": "x"})),
        "GlueArguments has '--JOB_NAME' in other, which Glue documents",
    ),
    "ga other secret": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--api-token": "abc"})),
        "job 'one' has in other of its glue_arguments '--api-token' with",
    ),
    "ga other TempDir": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--TempDir": "s3://x/"})),
        "GlueArguments has '--TempDir' in other, which Glue documents",
    ),
    "ga other underscore=arg": (
        lambda w: w.job(
            arguments={"my_arg": "x"}, glue_arguments=tc.GlueArguments(other={"--my_arg": "y"})
        ),
        "job 'one' has the argument 'my_arg'",
    ),
    "ga other enable-auto-scaling": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--enable-auto-scaling": "true"})),
        "GlueArguments has '--enable-auto-scaling' in other, which Glue",
    ),
    "ga other metrics": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--enable-metrics": "true"})),
        "GlueArguments has '--enable-metrics' in other, which Glue",
    ),
    "ga other continuous": (
        lambda w: w.job(
            glue_arguments=tc.GlueArguments(other={"--enable-continuous-cloudwatch-log": "true"})
        ),
        "GlueArguments has '--enable-continuous-cloudwatch-log' in",
    ),
    "ga pipeline proxy": (
        lambda w: w.job(
            pipeline=w.pipeline("x", glue_arguments=tc.GlueArguments(extra_jars=[Path("nope.jar")]))
        ),
        "job 'one' has the file 'nope.jar' in extra_jars, which is not a",
    ),
}
# What looks wrong and is not.
VALID = {
    "ga conf empty dict": lambda w: w.job(glue_arguments=tc.GlueArguments(conf={})),
    "ga conf token": lambda w: w.job(glue_arguments=tc.GlueArguments(conf={"spark.a": token()})),
    "ga formats empty": lambda w: w.job(glue_arguments=tc.GlueArguments(datalake_formats=[])),
    "ga insights false": lambda w: w.job(glue_arguments=tc.GlueArguments(job_insights=False)),
    "ga insights none": lambda w: w.job(glue_arguments=tc.GlueArguments(job_insights=None)),
    "ga obs false": lambda w: w.job(glue_arguments=tc.GlueArguments(observability_metrics=False)),
    "ga user_jars_first false": lambda w: w.job(
        glue_arguments=tc.GlueArguments(user_jars_first=False)
    ),
    "ga spark_ui ok": lambda w: w.job(glue_arguments=tc.GlueArguments(spark_ui=w.data("ui/"))),
    "ga jars empty": lambda w: w.job(glue_arguments=tc.GlueArguments(extra_jars=[])),
    "ga jars same name": lambda w: w.job(
        glue_arguments=tc.GlueArguments(extra_jars=["s3://b/a.jar", "s3://b/c/a.jar"])
    ),
    "ga files dataset": lambda w: w.job(glue_arguments=tc.GlueArguments(extra_files=[w.data()])),
    "ga pyfiles py": lambda w: w.job(
        glue_arguments=tc.GlueArguments(extra_py_files=["s3://b/a.py"])
    ),
    "ga installer w/o modules": lambda w: w.job(
        glue_arguments=tc.GlueArguments(python_modules_installer_option="--no-index")
    ),
    "ga venv str": lambda w: w.job(
        glue_arguments=tc.GlueArguments(python_virtual_env="s3://b/env.tar.gz")
    ),
    "ga venv + modules": lambda w: w.job(
        python_modules=["a==1"],
        glue_arguments=tc.GlueArguments(python_virtual_env="s3://b/env.tar.gz"),
    ),
    "ga proxy w/o connection": lambda w: w.job(glue_arguments=tc.GlueArguments(disable_proxy=True)),
    "ga vars comma": lambda w: w.job(
        glue_arguments=tc.GlueArguments(driver_variables={"CUSTOMER_A": "a,b"})
    ),
    "ga vars empty": lambda w: w.job(
        glue_arguments=tc.GlueArguments(driver_variables={"CUSTOMER_A": ""})
    ),
    "ga other empty value": lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--a-b": ""})),
    "ga pipeline-level stream-only": lambda w: (
        lambda p: (w.job(pipeline=p), w.shell("s", pipeline=p))
    )(w.pipeline("x", glue_arguments=tc.GlueArguments(conf={"spark.a": "1"}))),
}
# What a rule of the graph refuses at synthesis, and the rule.
REFUSED_AT_SYNTHESIS = {
    "ga spark_ui = writes": (
        lambda w: w.job(
            writes=[w.data("x/")], glue_arguments=tc.GlueArguments(spark_ui=w.data("x/"))
        ),
        "temp-overlaps",
    ),
}
