"""What starts a pipeline, and streams."""

import tidemark.constructs as tc
from tests.fixtures.pipelines import stage_of
from tests.tidemark.constructs.wrong.world import s3, token

# What is declared, and a part of why it is refused.
WRONG = {
    "starts twice": (
        lambda w: w.started_by(tc.Schedule("rate(1 hour)"), tc.Schedule("rate(1 hour)")),
        "pipeline 'orders' has the start Schedule(expression='rate(1",
    ),
    "starts batches": (
        lambda w: w.started_by(
            tc.OnObjects(w.data(), batch_size=2), tc.OnObjects(w.data("b/"), batch_size=3)
        ),
        "pipeline 'orders' is started by batches of 2 in 15 min and 3 in",
    ),
    "oo size 0": (lambda w: tc.OnObjects(w.data(), batch_size=0), "OnObjects has batch_size 0"),
    "oo size 101": (
        lambda w: tc.OnObjects(w.data(), batch_size=101),
        "OnObjects has batch_size 101",
    ),
    "oo window 16": (
        lambda w: tc.OnObjects(w.data(), batch_window_minutes=16),
        "OnObjects has batch_window_minutes 16",
    ),
    "oe empty": (
        lambda w: tc.OnEvent({}),
        "OnEvent has pattern {}, which is not an event pattern: the pattern is {}; allowed:",
    ),
    "oe nosource": (
        lambda w: tc.OnEvent({"detail-type": ["x"]}),
        "OnEvent has pattern {'detail-type': ['x']}, which names no",
    ),
    "oe value str": (
        lambda w: tc.OnEvent({"source": "acme"}),
        "OnEvent has pattern {'source': 'acme'}, which is not an event",
    ),
    "oe long": (lambda w: tc.OnEvent({"source": ["a" * 3000]}), "OnEvent has pattern {'source':"),
    "oe set": (
        lambda w: tc.OnEvent({"source": {"acme"}}),
        "OnEvent has pattern {'source': {'acme'}}, which is not an event",
    ),
    "oe key": (
        lambda w: w.started_by(tc.OnEvent({"source": ["acme"], "detailtype": ["x"]})),
        "whose field 'detailtype' no event has",
    ),
    "oe account": (
        lambda w: tc.OnEvent({"source": ["acme"], "account": ["123"]}),
        "whose account ['123'] no event has: each is a string of 12 digits",
    ),
    "oe account number": (
        lambda w: tc.OnEvent({"source": ["acme"], "account": [123456789012]}),
        "whose account [123456789012] no event has",
    ),
    "oe detail list": (
        lambda w: tc.OnEvent({"source": ["acme"], "detail": ["x"]}),
        "whose detail is not a dict",
    ),
    "oe secret": (
        lambda w: w.started_by(
            tc.OnEvent({"source": ["acme"], "detail": {"password": ["hunter2"]}})
        ),
        "whose 'password' looks like a secret",
    ),
    "oo other region bucket": (
        lambda w: w.started_by(
            tc.OnObjects(
                tc.Dataset(
                    s3.Bucket.from_bucket_attributes(
                        w.stack, "BB", bucket_name="their-bucket", region="us-east-1"
                    ),
                    "in/",
                )
            )
        ),
        "has starts with a bucket in the region us-east-1",
    ),
    "stream checkpoint = writes": (
        lambda w: (
            w.job("x"),
            w.stream(checkpoint=w.data("c/"), writes=[w.data("c/")]),
        ),
        "a folder that holds nothing else",
    ),
    "stream checkpoint = reads": (
        lambda w: (
            w.job("x"),
            w.stream(checkpoint=w.data("c/"), reads=[w.data("c/")]),
        ),
        "a folder that holds nothing else",
    ),
    "stream checkpoint in writes": (
        lambda w: (
            w.job("x"),
            w.stream(checkpoint=w.data("c/x/"), writes=[w.data("c/")]),
        ),
        "a folder that holds nothing else",
    ),
    "oe unknown filter": (
        lambda w: tc.OnEvent({"source": [{"prefx": "acme"}]}),
        "which is not an event pattern: source has {'prefx': 'acme'}; allowed: one of prefix",
    ),
    "oe nan": (
        lambda w: tc.OnEvent({"source": ["acme"], "detail": {"x": [float("nan")]}}),
        "detail.x has nan; allowed: ",
    ),
}
# What looks wrong and is not.
VALID = {
    "oe own": lambda w: w.started_by(tc.OnEvent({"source": ["tidemark"]})),
    "oe aws glue of another": lambda w: w.started_by(
        tc.OnEvent(
            {
                "source": ["aws.glue"],
                "detail-type": ["Glue Job State Change"],
                "detail": {"jobName": ["theirs"]},
            }
        )
    ),
    "oe accounts": lambda w: w.started_by(
        tc.OnEvent({"source": ["acme"], "account": ["123456789012", token()]})
    ),
    "oe token": lambda w: w.started_by(tc.OnEvent({"source": [token()]})),
    "starts + stage schedule": lambda w: w.pipeline(
        "o", stage=stage_of(schedule="rate(1 day)"), starts=[]
    ).add_job("one", script="job.py", bookmark=tc.BookmarkOption.ENABLE),
    "sched 2": lambda w: w.started_by(
        tc.Schedule("cron(0 6 * * ? *)"), tc.Schedule("cron(0 18 * * ? *)")
    ),
    "sched+event": lambda w: w.started_by(tc.Schedule("cron(0 6 * * ? *)"), tc.OnObjects(w.data())),
    "msk no conn": lambda w: (
        w.job("x"),
        w.stream(
            sources=[tc.MskTopics("arn:aws:kafka:eu-west-1:123456789012:cluster/x/abc-1", ["t"])]
        ),
    ),
    "kinesis other region": lambda w: (
        w.job("x"),
        w.stream(sources=[tc.KinesisStream("arn:aws:kinesis:us-east-1:123456789012:stream/x")]),
    ),
    "msk token": lambda w: (w.job("x"), w.stream(sources=[tc.MskTopics(token(), ["t"])])),
    "es token": lambda w: w.job(pipeline=w.pipeline("x", security=tc.ExistingSecurity(token()))),
    "stream flex ga": lambda w: (
        w.job("x"),
        w.stream(glue_arguments=tc.GlueArguments(auto_scale_within_microbatch=False)),
    ),
}
# What a rule of the graph refuses at synthesis, and the rule.
REFUSED_AT_SYNTHESIS = {
    "oo own output": (
        lambda w: (
            lambda p: p.add_job(
                "one",
                script="job.py",
                bookmark=tc.BookmarkOption.ENABLE,
                writes=[w.data("in/", delivered=False)],
            )
        )(w.pipeline("o", starts=[tc.OnObjects(w.data("in/", delivered=False))])),
        "starts-itself",
    ),
    "oo parent of output": (
        lambda w: (
            lambda p: p.add_job(
                "one",
                script="job.py",
                bookmark=tc.BookmarkOption.ENABLE,
                writes=[w.data("in/x/", delivered=False)],
            )
        )(w.pipeline("o", starts=[tc.OnObjects(w.data("in/", delivered=False))])),
        "starts-itself",
    ),
    "stream checkpoint = temp": (
        lambda w: (w.job("x"), w.stream(checkpoint=w.data("c/"), temp=w.data("c/"))),
        "temp-overlaps",
    ),
    "stream checkpoint = job writes": (
        lambda w: (w.job("x", writes=[w.data("c/")]), w.stream(checkpoint=w.data("c/"))),
        "two-writers",
    ),
}
