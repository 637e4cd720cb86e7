"""Errors of AWS services: a code that clients act on, a message, an HTTP status."""

from tidemark.errors import EntityNotFoundError, InputError, TidemarkError, UsageError

BAD_REQUEST, TOO_LARGE, SERVER_ERROR = 400, 413, 500


class ServiceError(TidemarkError):
    """An error with the code of a service, such as AlreadyExistsException."""

    def __init__(self, code: str, text: str, status: int = BAD_REQUEST) -> None:
        super().__init__(text)
        self.code = code
        self.status = status


class InvalidInputError(ServiceError):
    """Glue's InvalidInputException: the request asks for something impossible."""

    def __init__(self, text: str) -> None:
        super().__init__("InvalidInputException", text)


class NotFoundError(ServiceError):
    """Glue's EntityNotFoundException."""

    def __init__(self, text: str) -> None:
        super().__init__("EntityNotFoundException", text)


class AlreadyExistsError(ServiceError):
    """Glue's AlreadyExistsException."""

    def __init__(self, text: str) -> None:
        super().__init__("AlreadyExistsException", text)


class TooManyRunsError(ServiceError):
    """Glue's ConcurrentRunsExceededException: nothing was started."""

    def __init__(self, text: str) -> None:
        super().__init__("ConcurrentRunsExceededException", text)


def service_error(error: TidemarkError) -> ServiceError:
    """Return a local error in the form of Glue.

    Wrong or unsupported requests become InvalidInputException; a full disk or a damaged database
    becomes InternalServiceException, which clients retry.
    """
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, EntityNotFoundError):
        return NotFoundError(str(error))
    if isinstance(error, (UsageError, InputError, NotImplementedError)):
        return InvalidInputError(str(error))
    return ServiceError("InternalServiceException", str(error), SERVER_ERROR)
