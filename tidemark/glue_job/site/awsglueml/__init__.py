"""AWS's package of machine learning transforms; each is refused when a script uses it."""

from tidemark.glue_job.refusals import install_finder

install_finder()
