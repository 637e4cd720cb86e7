"""AWS's package of machine learning transforms; each is refused where a script uses it."""

from local_glue.refusals import install_finder

install_finder()
