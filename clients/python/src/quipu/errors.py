"""Exceptions, one class for each way a caller can respond."""

from __future__ import annotations

from typing import Any


class QuipuError(Exception):
    """Base class of all errors of this client."""


class NotReached(QuipuError):
    """The server is unreachable or did not respond in time. A write may have taken effect."""


class Refusal(QuipuError):
    """The server refused the request. Subclasses give the reason."""

    def __init__(self, status: int, body: Any, retry_after: float | None = None) -> None:
        error = body.get("error") if isinstance(body, dict) else None
        error = error if isinstance(error, dict) else {}
        self.status = status
        #: The machine-readable error type.
        self.type: str = error.get("type") or "unknown"
        #: A more specific error code.
        self.code: str = error.get("code") or self.type
        #: The invalid field, parameter or header.
        self.param: str | None = error.get("param")
        #: The request id, as in the server's log.
        self.request_id: str | None = error.get("request_id")
        #: True if the same request may succeed later.
        self.retryable: bool = bool(error.get("retryable"))
        #: Seconds to wait before a retry, if the server gave them.
        self.retry_after = retry_after
        #: If an erasure or deletion needs confirmation: the token to confirm it, and what it would destroy.
        self.confirm: str | None = error.get("confirm")
        self.preview: dict[str, Any] | None = error.get("preview")
        self.message: str = error.get("message") or f"the server answered {status}"
        super().__init__(f"{self.message} ({self.code}, HTTP {status})")


class InvalidRequest(Refusal):
    """The request is malformed or not allowed."""


class AuthenticationFailed(Refusal):
    """The key is missing, unknown or revoked."""


class PermissionDenied(Refusal):
    """The key does not permit this operation."""


class NotFound(Refusal):
    """The user, item or version does not exist."""


class Conflict(Refusal):
    """Concurrent writes kept changing the memory; the write was not applied."""


class PreconditionFailed(Refusal):
    """The memory is not at the expected version."""


class ConfirmationRequired(Refusal):
    """Nothing was destroyed yet. Repeat the call with `confirm`; `preview` lists what would be destroyed."""


class RuleBroken(Refusal):
    """A rule of the memory forbids the request, or the idempotency key was used for a different one."""


class RateLimited(Refusal):
    """Too many requests with this key."""


class Unavailable(Refusal):
    """The server is temporarily unavailable or timed out."""


class ServerFault(Refusal):
    """Internal error of the server or its storage."""


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
    """Returns the exception for an error response, by its type or else by its status."""
    error = body.get("error") if isinstance(body, dict) else None
    named = error.get("type") if isinstance(error, dict) else None
    by_status = _BY_STATUS.get(status, ServerFault if status >= 500 else Refusal)
    return _BY_TYPE.get(str(named), by_status)(status, body, retry_after)
