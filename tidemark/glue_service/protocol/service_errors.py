"""Errors as the services of AWS answer them: a code that clients act on, a text, an HTTP status."""

from tidemark.errors import EntityNotFoundError, InputError, TidemarkError, UsageError

BAD_REQUEST, TOO_LARGE, SERVER_ERROR = 400, 413, 500


class ServiceError(TidemarkError):
    """An error with the code of the service that answers it, such as AlreadyExistsException."""

    def __init__(self, code: str, text: str, status: int = BAD_REQUEST) -> None:
        super().__init__(text)
        self.code = code
        self.status = status


class InvalidInputError(ServiceError):
    """Glue's InvalidInputException: the request asks for something that cannot be."""

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
    """Return an error of this machine as Glue would answer it.

    What the caller asked wrongly, or what does not run here, is InvalidInputException; a full disk
    or a damaged database is InternalServiceException, which clients try again.
    """
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, EntityNotFoundError):
        return NotFoundError(str(error))
    if isinstance(error, (UsageError, InputError, NotImplementedError)):
        return InvalidInputError(str(error))
    return ServiceError("InternalServiceException", str(error), SERVER_ERROR)
