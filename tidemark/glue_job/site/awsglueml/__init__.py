"""AWS's package of machine learning transforms; each is refused where a script uses it."""

from tidemark.glue_job.refusals import install_finder

install_finder()
