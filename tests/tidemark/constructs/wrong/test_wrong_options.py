"""Runtimes, Glue's arguments, options of jobs: what is wrong is refused in one line."""

from pathlib import Path

import pytest

import tidemark.constructs as tc
from tests.tidemark.constructs.wrong.world import World, token
from tidemark.errors import InputError

pytestmark = pytest.mark.synth

# What is declared, and a part of why it is refused.
WRONG = {
    "rt worker none": (lambda w: tc.JobRuntime(worker_type=None), "worker_type is None"),
    "rt worker list": (lambda w: tc.JobRuntime(worker_type=["G.1X"]), "worker_type is ['G.1X']"),
    "rt workers float": (
        lambda w: tc.JobRuntime(number_of_workers=2.0),
        "number_of_workers is 2.0",
    ),
    "rt workers str": (lambda w: tc.JobRuntime(number_of_workers="2"), "number_of_workers is '2'"),
    "rt timeout none": (lambda w: tc.JobRuntime(timeout_minutes=None), "timeout_minutes is None"),
    "rt timeout big": (lambda w: tc.JobRuntime(timeout_minutes=10081), "timeout_minutes is 10081"),
    "rt version float": (lambda w: tc.JobRuntime(glue_version=5.1), "glue_version is 5.1"),
    "rt version 3.0": (lambda w: tc.JobRuntime(glue_version="3.0"), "glue_version is '3.0'"),
    "rt version 5": (lambda w: tc.JobRuntime(glue_version="5"), "glue_version is '5'"),
    "rt flex str": (lambda w: tc.JobRuntime(flex="no"), "flex is 'no'"),
    "rt G.025X": (lambda w: tc.JobRuntime(worker_type="G.025X"), "worker_type is 'G.025X'"),
    "rt Z.2X": (lambda w: tc.JobRuntime(worker_type="Z.2X"), "worker_type is 'Z.2X'"),
    "rt R.8X 300": (
        lambda w: tc.JobRuntime(worker_type="R.8X", number_of_workers=300),
        "number_of_workers is 300",
    ),
    "rt worker unhashable": (
        lambda w: tc.JobRuntime(worker_type={"a": 1}),
        "worker_type is {'a': 1}",
    ),
    "rt flex list": (lambda w: tc.JobRuntime(flex=[]), "flex is []"),
    "ga conf str": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(conf="spark.a=b")),
        "GlueArguments has conf 'spark.a=b'",
    ),
    "ga conf list": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(conf=["spark.a=b"])),
        "GlueArguments has conf ['spark.a=b']",
    ),
    "ga conf int": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(conf={"spark.a": 64})),
        "GlueArguments has conf \"'spark.a' with a value of type int\"",
    ),
    "ga conf bool": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(conf={"spark.a": True})),
        "GlueArguments has conf \"'spark.a' with a value of type bool\"",
    ),
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
    "ga conf name none": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(conf={None: "x"})),
        "GlueArguments has conf 'None with a value of type str'",
    ),
    "ga conf newline": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(conf={"spark.a": "b\n--conf"})),
        "GlueArguments has conf \"'spark.a' with a value of type str\"",
    ),
    "ga conf none val": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(conf={"spark.a": None})),
        "GlueArguments has conf \"'spark.a' with a value of type NoneType\"",
    ),
    "ga formats str": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(datalake_formats="iceberg")),
        "GlueArguments has datalake_formats 'iceberg'",
    ),
    "ga formats unknown": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(datalake_formats=["parquet"])),
        "GlueArguments has datalake_formats ['parquet']",
    ),
    "ga formats twice": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(datalake_formats=["iceberg", "iceberg"])),
        "GlueArguments has datalake_formats ['iceberg', 'iceberg']",
    ),
    "ga formats unhashable": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(datalake_formats=[["iceberg"]])),
        "GlueArguments has datalake_formats [['iceberg']]",
    ),
    "ga formats none in": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(datalake_formats=[None])),
        "GlueArguments has datalake_formats [None]",
    ),
    "ga flag str": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(observability_metrics="true")),
        "GlueArguments has observability_metrics 'true'",
    ),
    "ga flag int": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(glue_datacatalog=1)),
        "GlueArguments has glue_datacatalog 1",
    ),
    "ga user_jars_first alone": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(user_jars_first=True)),
        "job 'one' has user_jars_first in its glue_arguments and no",
    ),
    "ga spark_ui str": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(spark_ui="s3://x/")),
        "GlueArguments has spark_ui 's3://x/'",
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
    "ga jars str": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(extra_jars="s3://b/x.jar")),
        "GlueArguments has extra_jars 's3://b/x.jar'",
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
    "ga jars dataset": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(extra_jars=[w.data()])),
        "allowed: a list, each a Path of a file in the project, or the",
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
    "ga installer int": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(python_modules_installer_option=1)),
        "GlueArguments has python_modules_installer_option 1",
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
    "ga executor_cores bool": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(executor_cores=True)),
        "GlueArguments has executor_cores True",
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
    "ga vars list": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(driver_variables=["CUSTOMER_A=b"])),
        "GlueArguments has driver_variables ['CUSTOMER_A=b']",
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
    "ga other int": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--a-b": 1})),
        "GlueArguments has other \"'--a-b' with a value of type int\"",
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
    "ga other None val": (
        lambda w: w.job(glue_arguments=tc.GlueArguments(other={"--a-b": None})),
        "GlueArguments has other \"'--a-b' with a value of type NoneType\"",
    ),
    "ga pipeline proxy": (
        lambda w: w.job(
            pipeline=w.pipeline("x", glue_arguments=tc.GlueArguments(extra_jars=[Path("nope.jar")]))
        ),
        "job 'one' has the file 'nope.jar' in extra_jars, which is not a",
    ),
    "o descr empty": (
        lambda w: w.job(options=tc.JobOptions(description="")),
        "JobOptions has description ''",
    ),
    "o descr int": (
        lambda w: w.job(options=tc.JobOptions(description=1)),
        "JobOptions has description 1",
    ),
    "o descr 2049": (
        lambda w: w.job(options=tc.JobOptions(description="a" * 2049)),
        "JobOptions has description",
    ),
    "o descr 2048 umlauts": (
        lambda w: w.job(options=tc.JobOptions(description="ä" * 2048)),
        "JobOptions has description",
    ),
    "o descr spaces": (
        lambda w: w.job(options=tc.JobOptions(description="  ")),
        "JobOptions has description '  '",
    ),
    "o descr secret": (
        lambda w: w.job(options=tc.JobOptions(description="password=hunter2")),
        "JobOptions has a description that looks as if it held a secret,",
    ),
    "o tags list": (
        lambda w: w.job(options=tc.JobOptions(tags=[("a", "b")])),
        "JobOptions has tags [('a', 'b')]",
    ),
    "o tags aws": (
        lambda w: w.job(options=tc.JobOptions(tags={"aws:a": "b"})),
        "JobOptions has tags {'aws:a': 'b'}",
    ),
    "o tags tidemark": (
        lambda w: w.job(options=tc.JobOptions(tags={"tidemark:stage": "x"})),
        "JobOptions has tags {'tidemark:stage': 'x'}",
    ),
    "o tags int": (
        lambda w: w.job(options=tc.JobOptions(tags={"a": 1})),
        "JobOptions has tags {'a': 1}",
    ),
    "o tags star": (
        lambda w: w.job(options=tc.JobOptions(tags={"a": "b*"})),
        "JobOptions has tags {'a': 'b*'}",
    ),
    "o tags 49": (
        lambda w: w.job(options=tc.JobOptions(tags={f"a{i}": "b" for i in range(49)})),
        "JobOptions has tags {'a0': 'b', 'a1': 'b', 'a2': 'b', 'a3':",
    ),
    "o tags none": (lambda w: w.job(options=tc.JobOptions(tags=None)), "JobOptions has tags None"),
    "o tags case": (
        lambda w: w.job(options=tc.JobOptions(tags={"Team": "a", "team": "b"})),
        "JobOptions has tags ['Team', 'team']",
    ),
    "o tags 129": (
        lambda w: w.job(options=tc.JobOptions(tags={"a" * 129: "b"})),
        "JobOptions has tags",
    ),
    "o ret 10": (
        lambda w: w.job(options=tc.JobOptions(log_retention_days=10)),
        "JobOptions has log_retention_days 10",
    ),
    "o ret true": (
        lambda w: w.job(options=tc.JobOptions(log_retention_days=True)),
        "JobOptions has log_retention_days True",
    ),
    "o ret str": (
        lambda w: w.job(options=tc.JobOptions(log_retention_days="30")),
        "JobOptions has log_retention_days '30'",
    ),
    "o ret 0": (
        lambda w: w.job(options=tc.JobOptions(log_retention_days=0)),
        "JobOptions has log_retention_days 0",
    ),
    "o ret with existing groups": (
        lambda w: w.job(
            pipeline=w.pipeline("x", log_groups=tc.LogGroups.EXISTING),
            options=tc.JobOptions(log_retention_days=30),
        ),
        "JobOptions has log_retention_days 30 in a pipeline with",
    ),
    "o runs 0": (
        lambda w: w.job(options=tc.JobOptions(max_concurrent_runs=0)),
        "JobOptions has max_concurrent_runs 0",
    ),
    "o runs true": (
        lambda w: w.job(options=tc.JobOptions(max_concurrent_runs=True)),
        "JobOptions has max_concurrent_runs True",
    ),
    "o runs 2 bookmark": (
        lambda w: w.job(options=tc.JobOptions(max_concurrent_runs=2)),
        "job 'one' has max_concurrent_runs 2 and keeps a bookmark, which",
    ),
    "o runs none": (
        lambda w: w.job(options=tc.JobOptions(max_concurrent_runs=None)),
        "JobOptions has max_concurrent_runs None",
    ),
    "o runs 4001": (
        lambda w: w.job(options=tc.JobOptions(max_concurrent_runs=4001)),
        "JobOptions has max_concurrent_runs 4001",
    ),
    "o runs 2 pause": (
        lambda w: w.job(
            bookmark=tc.BookmarkOption.PAUSE, options=tc.JobOptions(max_concurrent_runs=2)
        ),
        "job 'one' has max_concurrent_runs 2 and keeps a bookmark, which",
    ),
    "o runs 2 watermark": (
        lambda w: w.job(
            bookmark=tc.BookmarkOption.DISABLE,
            watermark=True,
            options=tc.JobOptions(max_concurrent_runs=2),
        ),
        "job 'one' has max_concurrent_runs 2 and keeps watermarks, whose",
    ),
    "o nonov str": (
        lambda w: w.job(options=tc.JobOptions(non_overridable="conf")),
        "JobOptions has non_overridable 'conf'",
    ),
    "o nonov unknown": (
        lambda w: w.job(options=tc.JobOptions(non_overridable=["nope"])),
        "job 'one' has 'nope' in non_overridable, which is none of its",
    ),
    "o nonov twice": (
        lambda w: w.job(options=tc.JobOptions(non_overridable=["a", "a"])),
        "JobOptions has non_overridable ['a', 'a']",
    ),
    "o nonov none": (
        lambda w: w.job(options=tc.JobOptions(non_overridable=None)),
        "JobOptions has non_overridable None",
    ),
    "o notify 0": (
        lambda w: w.job(options=tc.JobOptions(notify_after_minutes=0)),
        "JobOptions has notify_after_minutes 0",
    ),
    "o notify >= timeout": (
        lambda w: w.job(options=tc.JobOptions(notify_after_minutes=60)),
        "job 'one' has notify_after_minutes 60 and ends after 60",
    ),
    "o notify float": (
        lambda w: w.job(options=tc.JobOptions(notify_after_minutes=1.5)),
        "JobOptions has notify_after_minutes 1.5",
    ),
    "a empty": (lambda w: w.job(started=tc.ActionOptions()), "ActionOptions() says nothing"),
    "a args list": (
        lambda w: w.job(started=tc.ActionOptions(arguments=["a"])),
        "ActionOptions has arguments ['a']",
    ),
    "a args none": (
        lambda w: w.job(started=tc.ActionOptions(arguments=None)),
        "ActionOptions has arguments None",
    ),
    "a args int": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"a": 1})),
        "job 'one' has the argument 'a' with the value 1",
    ),
    "a args dashes": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"--a": "b"})),
        "job 'one' has the argument '--a'",
    ),
    "a args secret": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"password": "hunter2"})),
        "job 'one' is started with the argument 'password' with a value",
    ),
    "a args glue": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"conf": "x"})),
        "job 'one' has the argument 'conf'",
    ),
    "a timeout 0": (
        lambda w: w.job(started=tc.ActionOptions(timeout_minutes=0)),
        "ActionOptions has timeout_minutes 0",
    ),
    "a timeout bool": (
        lambda w: w.job(started=tc.ActionOptions(timeout_minutes=True)),
        "ActionOptions has timeout_minutes True",
    ),
    "a timeout big": (
        lambda w: w.job(started=tc.ActionOptions(timeout_minutes=10081)),
        "ActionOptions has timeout_minutes 10081",
    ),
    "a notify": (
        lambda w: w.job(started=tc.ActionOptions(notify_after_minutes=60)),
        "job 'one' is started with notify_after_minutes 60 and times out",
    ),
    "a timeout str": (
        lambda w: w.job(started=tc.ActionOptions(timeout_minutes="60")),
        "ActionOptions has timeout_minutes '60'",
    ),
    "a empty dict": (
        lambda w: w.job(started=tc.ActionOptions(arguments={})),
        "ActionOptions() says nothing",
    ),
    "a args dataset undeclared": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"x": w.data()})),
        "job 'one' has the argument 'x' with the dataset 'in/', which it",
    ),
    "a args nonoverridable": (
        lambda w: w.job(
            arguments={"a": "b"},
            options=tc.JobOptions(non_overridable=["a"]),
            started=tc.ActionOptions(arguments={"a": "c"}),
        ),
        "job 'one' has the argument 'a'",
    ),
    "a args watermark_table": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"watermark_table": "x"})),
        "job 'one' has the argument 'watermark_table'",
    ),
    "a args TempDir": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"TempDir": "x"})),
        "job 'one' has the argument 'TempDir'",
    ),
    "a notify > own": (
        lambda w: w.job(started=tc.ActionOptions(timeout_minutes=10, notify_after_minutes=10)),
        "job 'one' is started with notify_after_minutes 10 and times out",
    ),
    "ns none": (
        lambda w: w.job(arguments={"password": tc.NotSecret(None, "x")}),
        "job 'one' has the argument 'password' as a NotSecret with the",
    ),
    "ns nested": (
        lambda w: w.job(arguments={"password": tc.NotSecret(tc.NotSecret("a", "b"), "x")}),
        "job 'one' has the argument 'password' as a NotSecret with the",
    ),
    "ns reason none": (
        lambda w: w.job(arguments={"a": tc.NotSecret("a", None)}),
        "job 'one' has the argument 'a' as a NotSecret with the reason",
    ),
}
# What looks wrong and is not.
VALID = {
    "rt flex+retries": lambda w: w.job(runtime=tc.JobRuntime(flex=True, max_retries=2)),
    "rt auto_scaling 2": lambda w: w.job(
        runtime=tc.JobRuntime(auto_scaling=True, number_of_workers=2)
    ),
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
    "o descr none": lambda w: w.job(options=tc.JobOptions(description=None)),
    "o descr newline": lambda w: w.job(options=tc.JobOptions(description="a\nb")),
    "o tags empty value": lambda w: w.job(options=tc.JobOptions(tags={"a": ""})),
    "o ret shell": lambda w: w.shell(options=tc.JobOptions(log_retention_days=30)),
    "o runs 2 disable": lambda w: w.job(
        bookmark=tc.BookmarkOption.DISABLE, options=tc.JobOptions(max_concurrent_runs=2)
    ),
    "o nonov dash known": lambda w: w.job(
        options=tc.JobOptions(non_overridable=["--job-language"])
    ),
    "o nonov bookmark": lambda w: w.job(
        options=tc.JobOptions(non_overridable=["--job-bookmark-option"])
    ),
    "a args same value": lambda w: w.job(
        arguments={"a": "b"}, started=tc.ActionOptions(arguments={"a": "b"})
    ),
    "a timeout below job notify": lambda w: w.job(started=tc.ActionOptions(timeout_minutes=10)),
    "a timeout below options notify": lambda w: w.job(
        options=tc.JobOptions(notify_after_minutes=30), started=tc.ActionOptions(timeout_minutes=20)
    ),
    "a new arg": lambda w: w.job(started=tc.ActionOptions(arguments={"extra": "x"})),
    "ns token": lambda w: w.job(arguments={"password": tc.NotSecret(token(), "x")}),
    "ns not needed": lambda w: w.job(arguments={"a": tc.NotSecret("a", "why")}),
}
# What a rule of the graph refuses at synthesis, and the rule.
REFUSED_AT_SYNTHESIS = {
    "ga spark_ui = writes": (
        lambda w: w.job(
            writes=[w.data("x/")], glue_arguments=tc.GlueArguments(spark_ui=w.data("x/"))
        ),
        "temp-overlaps",
    ),
    "o runs 2 writes": (
        lambda w: w.job(
            bookmark=tc.BookmarkOption.DISABLE,
            writes=[w.data()],
            options=tc.JobOptions(max_concurrent_runs=2),
        ),
        "two-writers",
    ),
}


@pytest.mark.parametrize(("declare", "why"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused_in_one_line(world, declare, why):
    with pytest.raises(InputError) as refused:
        declare(world)

    text = str(refused.value)
    assert why in text
    assert "\n" not in text
    assert ";" in text  # what to do follows what is wrong


@pytest.mark.parametrize("declare", VALID.values(), ids=VALID)
def test_what_only_looks_wrong_is_synthesized(cdk, tmp_path, declare):
    world = World(tmp_path)

    declare(world)

    assert world.app.synth().stacks


@pytest.mark.parametrize(
    ("declare", "rule"), REFUSED_AT_SYNTHESIS.values(), ids=REFUSED_AT_SYNTHESIS
)
def test_what_only_all_of_it_shows_to_be_wrong_is_refused_at_synthesis(
    cdk, tmp_path, declare, rule
):
    world = World(tmp_path)
    declare(world)

    assert rule in world.broken_rules()
