from collections.abc import Sequence
from os import PathLike
from typing import final

from .types import Context, Erasure, Fact, Kind, Provenance, Recall, Receipt, Role, Time, Version

__all__ = [
    "Conflict",
    "Corrupt",
    "Invalid",
    "Memory",
    "NotFound",
    "QuipuError",
    "Refused",
    "Stale",
    "Unavailable",
]

class QuipuError(Exception): ...
class Invalid(QuipuError): ...
class NotFound(QuipuError): ...
class Conflict(QuipuError): ...
class Stale(QuipuError): ...
class Refused(QuipuError): ...
class Unavailable(QuipuError): ...
class Corrupt(QuipuError): ...

@final
class Memory:
    """One user's memory in a folder. All methods can be called from several threads at once."""

    def __new__(cls, folder: str | PathLike[str], *, user: str = "me") -> Memory:
        """Opens the memory of a user. The folder is created if it does not exist.

        Raises `Unavailable` if the folder cannot be created, read or locked, `Corrupt` if a newer Quipu wrote it, and `Invalid` if the name of
        the user is not allowed.
        """

    @property
    def user(self) -> str: ...
    def of_user(self, name: str) -> Memory:
        """Another user's memory in the same folder. Users see nothing of each other."""

    def remember(
        self,
        text: str,
        *,
        role: Role = "user",
        name: str | None = None,
        session: str | None = None,
        said_at: Time | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Records a message, and reads facts, tasks and rules from it. Returns once it is on disk and can be recalled.

        `name` is the speaker's, `session` the conversation, `said_at` the time of the message (now by default). A message that is sent
        again with the same `idempotency_key` has no second effect.
        """

    def recall(
        self,
        question: str,
        *,
        limit: int = 8,
        session: str | None = None,
        kinds: Sequence[Kind] = ...,
        at: Version | None = None,
        now: Time | None = None,
    ) -> Recall:
        """Finds what answers a question, best first.

        `session` and `kinds` restrict the search; `at` reads an earlier version; `now` is the time that words such as "last week" refer to.
        """

    def context(
        self,
        request: str,
        *,
        max_tokens: int | None = None,
        session: str | None = None,
        at: Version | None = None,
        now: Time | None = None,
        cite: bool = False,
    ) -> Context:
        """A block of memory for a model's prompt, of at most `max_tokens` tokens (1,800 by default). `cite` asks the model to cite its lines."""

    def facts(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        at: Version | None = None,
        valid_at: Time | None = None,
        all: bool = False,
    ) -> list[Fact]:
        """The facts that hold, most important first. `all` includes those that are superseded, corrected, pending or retracted."""

    def why(self, item: str) -> Provenance:
        """Where an item comes from. Raises `NotFound` if there is no such item."""

    def revert(self, event: int, *, rationale: str | None = None) -> Receipt:
        """Undoes an event, given its number (`Receipt["seq"]`). Nothing is deleted: reverting the returned event redoes it."""

    def erase(self, items: Sequence[str], reason: str) -> Erasure:
        """Destroys the content of items, and everything read from it, for good. The ledger records the erasure and still verifies.

        `items` are ids of items, numbers of events (`"12"`) or changes (`"12.0"`).
        """
