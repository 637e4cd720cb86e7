"""`tidemark rewind --deployed STAGE`."""

from tidemark.cli.rewind_request import Request
from tidemark.cli.where import Where
from tidemark.errors import UnsupportedError


def rewind_deployed(request: Request, where: Where) -> None:
    """Refuse: it is not there yet.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(f"rewind --deployed {where.stage} of {request.jobs} is not there yet")
