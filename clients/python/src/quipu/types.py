"""Types of requests and responses, as in `/openapi.json`. Responses may have more fields than are listed here."""

# No postponed annotations: they would hide `Required` and `NotRequired`.
from typing import Any, Literal

from typing_extensions import NotRequired, Required, TypedDict

#: An object whose fields only the OpenAPI document describes.
Json = dict[str, Any]

Intent = Literal["plan", "reflect", "recall", "decide", "nudge"]
#: When to respond: once the write is on disk; once the rules have read it and recall finds it; once a language model
#: has read it too.
Wait = Literal["durable", "indexed", "extracted"]
Scope = Literal["read", "write", "review", "admin"]


class Message(TypedDict, total=False):
    """One message of a conversation."""

    role: Required[Literal["user", "assistant", "system", "tool"]]
    content: Required[str]
    #: Name of the speaker.
    name: str
    #: Time of this message (RFC 3339), if it differs from the others.
    said_at: str


class LinkIn(TypedDict):
    """A link to another item."""

    #: The relation: ``impacts``, ``about``, ``same_as``.
    rel: str
    to: str


class FactIn(TypedDict, total=False):
    """A claim."""

    #: Whom the claim is about. Defaults to the user.
    subject: str
    predicate: Required[str]
    object: Required[str]
    text: str
    valid_from: str
    valid_to: str
    confidence_base: float
    qualifiers: dict[str, str]
    #: The broad subject area. Defaults to that of the predicate.
    domain: str
    topic: str
    tags: list[str]
    links: list[LinkIn]


class NoteIn(TypedDict, total=False):
    """An insight."""

    text: Required[str]
    origin: Literal["model_reflection", "human_feedback", "rule"]
    confidence_base: float
    tags: list[str]


class AttemptIn(TypedDict, total=False):
    """An attempt at a task."""

    #: A time or a date.
    date: str
    approach: Required[str]
    outcome: str
    successful: bool


class TaskIn(TypedDict, total=False):
    """A task, goal or problem."""

    title: Required[str]
    #: Details beyond the title.
    description: str
    kind: Literal["task", "goal", "problem"]
    status: Literal["active", "stalled", "done", "dropped"]
    #: From 1 to 10. Defaults to 5.
    priority: int
    due: str
    created_at: str
    attempts: list[AttemptIn]
    tags: list[str]
    links: list[LinkIn]


class TenetIn(TypedDict, total=False):
    """A line of the self-model."""

    kind: Required[Literal["value", "preference", "policy", "goal"]]
    text: Required[str]
    evidence: list[str]
    domain: str
    topic: str


class Receipt(TypedDict):
    """Proof that an event is durable."""

    event_id: str
    #: Position of the event.
    seq: int
    #: Version of the memory that contains the event and what followed from it.
    version: int
    #: Hash of the event. Store it as a pin to detect tampering later.
    hash: str
    items: list[str]
    #: True if this repeats the response to an earlier identical request.
    replayed: bool
    redacted: NotRequired[list[str]]
    understood: NotRequired[Json]
    summarized: NotRequired[list[Json]]
    lag: str | None


class Recorded(TypedDict):
    """Proof that messages are recorded."""

    event_id: str
    seq: int
    position: int
    items: list[str]
    replayed: bool
    events: list[Receipt]
    #: Processing that is still pending, if any.
    lag: str | None


class Written(TypedDict):
    """The outcome of a write of items."""

    #: Items that count: created now, or known before and confirmed again.
    accepted: list[str]
    #: Items that do not count until their review is decided: ``review_id``, ``item_id``, ``question``, ``reason``.
    waiting: list[Json]
    rejected: list[Json]
    source: str | None
    #: Position of the event that recorded the source.
    seq: NotRequired[int]
    #: Version of the memory that contains everything that was recorded.
    version: NotRequired[int]
    #: What happened to each item, known ones that ended included.
    understood: Json
    #: Kinds of secrets that were removed before anything was stored.
    redacted: NotRequired[list[str]]
    #: Paths of unknown fields in the request: ``facts[0].version``.
    ignored: NotRequired[list[str]]
    replayed: bool


class Decision(TypedDict):
    """Whether the memory answers the question."""

    verdict: Literal["answer", "verify", "clarify", "abstain"]
    #: Calibrated probability that the results answer the question.
    probability: float
    reason: str
    question: NotRequired[str]
    of_another: bool
    signals: Json


class Answer(TypedDict):
    """One search result."""

    id: str
    kind: str
    score: float
    raw_score: float
    contributions: Json
    #: The speaker; for a fact, its subject.
    speaker: str
    said_at: str | None
    valid_from: NotRequired[str]
    valid_to: NotRequired[str]
    status: NotRequired[str]
    session_id: str | None
    native_id: str | None
    text: str
    span: Json
    trust: str
    event_seq: int
    evidence: NotRequired[list[Json]]
    also: NotRequired[list[str]]
    confidence: float


class Retrieved(TypedDict):
    """Search results by tier, best first."""

    profile: list[Answer]
    episodic: list[Answer]
    tasks: list[Answer]
    reflective: list[Answer]
    version: int
    decision: Decision
    #: What recall worked without, if anything was unavailable.
    degraded: str | None
    debug: Json


class Context(TypedDict):
    """A block of memory for a prompt: a pack or, with a session, the context for its next reply."""

    text: str
    sections: list[Json]
    citations: list[str]
    #: Ids of items that were found but left out, best first.
    omitted: list[str]
    tokens: int
    counted_by: str
    version: int
    # Only in a pack.
    #: Permanent facts and the user's profile: the same for every question.
    stable: NotRequired[str]
    #: The part that depends on the question.
    changing: NotRequired[str]
    #: `nothing`, `task`, `memory`, or `unknown` if memory seems to have nothing about it.
    need: NotRequired[str]
    #: The lines of the changing part that represent items: mark, id, kind, speaker, said_at, trust, span, text, also.
    lines: NotRequired[list[Json]]
    decision: NotRequired[Decision]
    omitted_paths: NotRequired[list[str]]
    pack_id: NotRequired[str]
    degraded: NotRequired[str | None]
    # Only in the context of a session.
    session_id: NotRequired[str]
    system: NotRequired[str]
    messages: NotRequired[list[Json]]
    #: Messages shortened to some of their sentences.
    cut: NotRequired[list[str]]
    omitted_turns: NotRequired[list[int]]
    unsummarized: NotRequired[list[int]]
    over_budget: NotRequired[bool]


class Core(TypedDict):
    """The core document at a version."""

    user_id: str
    version: int
    document: Json


class Episodes(TypedDict):
    """Episodes, best first."""

    items: list[Json]
    #: Deprecated alias of `items`.
    episodes: list[Json]


class Page(TypedDict):
    """A page of a list."""

    items: list[Json]
    #: Number of entries on all pages.
    total: int
    #: The value of `after` for the next page; None on the last page.
    next: str | None


class EventPage(TypedDict):
    """A page of events."""

    items: list[Json]
    #: Deprecated alias of `items`.
    events: list[Json]
    #: Number of entries on all pages.
    total: int
    next: int | None


class Blamed(TypedDict):
    """The events that shaped a value or an item."""

    items: list[Json]
    #: Deprecated alias of `items`.
    steps: list[Json]


class Changed(TypedDict):
    """The receipts of a change to an item."""

    receipts: list[Receipt]


class Keys(TypedDict):
    """Every key, without secrets."""

    items: list[Json]
    #: Deprecated alias of `items`.
    keys: list[Json]
