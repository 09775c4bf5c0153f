"""The dictionaries that a memory returns. Times are strings in RFC 3339; dictionaries may have more keys than are listed here."""

from datetime import datetime
from typing import Any, Literal, TypedDict, Union

#: A `datetime` with a time zone, or text: `2026-07-15`, `2026-07-15T14:00:00Z`, `yesterday`, `3 days ago`. Without a zone it is UTC.
Time = Union[datetime, str]
#: A version of the memory: the number of its last event, or a time, which means what was recorded by then.
Version = Union[int, datetime, str]
Role = Literal["user", "assistant", "system", "tool"]
Kind = Literal[
    "turn", "entry", "document", "import", "fact", "episode", "task", "note", "tenet", "review", "truth"
]


class Receipt(TypedDict):
    """Proof that an event is on disk."""

    event_id: str
    #: The number of the event. `revert` takes it. What was read from a message is recorded by later events: `Recall["version"]` includes them.
    seq: int
    #: Hash of the event. Keep it to detect tampering later.
    hash: str
    #: Ids of the items that it recorded.
    items: list[str]
    #: True if the same request was recorded before and nothing was added now.
    replayed: bool
    #: Why recall does not see all of it yet, if a step after the write failed.
    lag: str | None


class _HitOptional(TypedDict, total=False):
    valid_from: str
    valid_to: str
    #: Unless it is simply active: `contested`, `superseded`, `open`, `completed` …
    status: str
    #: Quotations from the messages it was read from.
    evidence: list[dict[str, Any]]
    #: Ids of items that say the same or stand next to it.
    also: list[str]
    #: Statements in its text that no longer hold or never did: pairs of id and text.
    outdated: list[tuple[str, str]]


class Hit(_HitOptional):
    """One result of a recall."""

    id: str
    kind: str
    #: From 0 to 1.
    score: float
    #: The speaker; for a fact, its subject.
    speaker: str
    said_at: str | None
    session_id: str | None
    #: The part of the item that answers best.
    text: str
    #: `direct`, `confirmed` … as in the documentation of the ledger.
    trust: str
    event_seq: int
    #: How far it can be relied on, from 0 to 1.
    confidence: float


class _DecisionOptional(TypedDict, total=False):
    #: What to ask the user, if the verdict is `clarify`.
    question: str


class Decision(_DecisionOptional):
    """Whether the memory answers the question."""

    verdict: Literal["answer", "verify", "clarify", "abstain"]
    #: The calibrated probability that the hits answer it.
    probability: float
    reason: str
    #: True if the best hit is about somebody else than the question.
    of_another: bool


class Recall(TypedDict):
    """The result of a recall."""

    query: str
    #: The version that was read.
    version: int
    #: Best first.
    hits: list[Hit]
    decision: Decision
    #: What could not be used, so that the hits may be worse.
    degraded: str | None


class Context(TypedDict):
    """A block of memory for a model's prompt."""

    #: `stable`, then `changing`.
    text: str
    #: The same for every request, so that prompt caches hold. May be empty.
    stable: str
    #: What bears on this request. May be empty.
    changing: str
    #: Ids of the items in it.
    citations: list[str]
    #: Ids of items that were found and had no room, best first.
    omitted: list[str]
    #: Tokens of `text`.
    tokens: int
    counted_by: str
    lines: list[dict[str, Any]]


class _FactOptional(TypedDict, total=False):
    valid_from: str
    valid_to: str


class Fact(_FactOptional):
    """A fact with its evidence."""

    id: str
    subject: str
    predicate: str
    text: str
    status: str
    #: Pairs of the id of a message and the words quoted from it.
    quotes: list[tuple[str, str]]
    source_ids: list[str]
    event_seq: int | None


class Provenance(TypedDict):
    """Where an item comes from."""

    item: dict[str, Any]
    #: The event that recorded it.
    event: dict[str, Any]
    digest: str
    #: True if the stored bytes match the digest, and the event its hash.
    intact: bool
    #: Later events that concern it.
    later: list[dict[str, Any]]


class Erasure(TypedDict):
    """Proof of an erasure."""

    event_seq: int
    erased: list[dict[str, int]]
    #: Ids of messages that still contain the words erased items were read from. Erase them too if the words should go.
    sources_left: list[str]
    lag: str | None
