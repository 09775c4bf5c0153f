"""What can go wrong, one class for each thing a caller may do about it."""

from __future__ import annotations

from typing import Any


class QuipuError(Exception):
    """Anything that went wrong."""


class NotReached(QuipuError):
    """The server cannot be reached, or did not answer in time. A write may have happened."""


class Refusal(QuipuError):
    """The server's answer was no. The classes below say why."""

    def __init__(self, status: int, body: Any, retry_after: float | None = None) -> None:
        error = body.get("error") if isinstance(body, dict) else None
        error = error if isinstance(error, dict) else {}
        self.status = status
        #: One word for programs.
        self.type: str = error.get("type") or "unknown"
        #: The same, finer.
        self.code: str = error.get("code") or self.type
        #: The field, parameter or header that is wrong.
        self.param: str | None = error.get("param")
        #: The name of the request, as it stands in the server's log.
        self.request_id: str | None = error.get("request_id")
        #: True if the same may succeed later.
        self.retryable: bool = bool(error.get("retryable"))
        #: Seconds until then, if the server knows.
        self.retry_after = retry_after
        #: The token that confirms a destruction, and what it would destroy, where one is refused for want of it.
        self.confirm: str | None = error.get("confirm")
        self.preview: dict[str, Any] | None = error.get("preview")
        self.message: str = error.get("message") or f"the server answered {status}"
        super().__init__(f"{self.message} ({self.code}, HTTP {status})")


class InvalidRequest(Refusal):
    """What was sent cannot be read, or is not allowed."""


class AuthenticationFailed(Refusal):
    """There is no key, or none that is known."""


class PermissionDenied(Refusal):
    """The key does not open this."""


class NotFound(Refusal):
    """There is no such user, item or version."""


class Conflict(Refusal):
    """Other writers were faster, again and again."""


class PreconditionFailed(Refusal):
    """The memory is at another version than expected."""


class ConfirmationRequired(Refusal):
    """A destruction was announced and not done: ask again with `confirm`. `preview` says what would be destroyed."""


class RuleBroken(Refusal):
    """The rules of the memory forbid it, or the idempotency key was used for something else."""


class RateLimited(Refusal):
    """Too many requests with this key."""


class Unavailable(Refusal):
    """Not now."""


class ServerFault(Refusal):
    """A fault of the server's, or of its disk."""


_BY_TYPE: dict[str, type[Refusal]] = {
    "invalid_request_error": InvalidRequest,
    "request_too_large": InvalidRequest,
    "authentication_error": AuthenticationFailed,
    "permission_error": PermissionDenied,
    "not_found_error": NotFound,
    "conflict_error": Conflict,
    "precondition_failed_error": PreconditionFailed,
    "confirmation_required_error": ConfirmationRequired,
    "refused_error": RuleBroken,
    "rate_limit_error": RateLimited,
    "timeout_error": Unavailable,
    "unavailable_error": Unavailable,
    "api_error": ServerFault,
}
_BY_STATUS: dict[int, type[Refusal]] = {
    400: InvalidRequest,
    401: AuthenticationFailed,
    403: PermissionDenied,
    404: NotFound,
    405: InvalidRequest,
    408: Unavailable,
    409: Conflict,
    412: PreconditionFailed,
    413: InvalidRequest,
    415: InvalidRequest,
    422: RuleBroken,
    428: ConfirmationRequired,
    429: RateLimited,
    503: Unavailable,
}


def refusal(status: int, body: Any, retry_after: float | None) -> Refusal:
    """The error an answer stands for: by its type, else by its status."""
    error = body.get("error") if isinstance(body, dict) else None
    named = error.get("type") if isinstance(error, dict) else None
    by_status = _BY_STATUS.get(status, ServerFault if status >= 500 else Refusal)
    return _BY_TYPE.get(str(named), by_status)(status, body, retry_after)
