"""What is sent and what is answered, as `/openapi.json` has it. Answers may have more fields than are listed here."""

# Without postponed annotations: they would hide what is required.
from typing import Any, Literal

from typing_extensions import NotRequired, Required, TypedDict

#: An object whose fields are described where the server makes it.
Json = dict[str, Any]

Intent = Literal["plan", "reflect", "recall", "decide", "nudge"]
#: Until what an answer waits: it is on the disk; recall finds it and the rules have read it; a language model has too.
Wait = Literal["durable", "indexed", "extracted"]
Scope = Literal["read", "write", "review", "admin"]


class Message(TypedDict, total=False):
    """One message of a conversation."""

    role: Required[Literal["user", "assistant", "system", "tool"]]
    content: Required[str]
    #: Who spoke, by name.
    name: str
    #: When, if at another time than the others (RFC 3339).
    said_at: str


class LinkIn(TypedDict):
    """A connection with another item."""

    #: What connects them: ``impacts``, ``about``, ``same_as``.
    rel: str
    to: str


class FactIn(TypedDict, total=False):
    """A claim."""

    #: Whom it is about; the user, if nothing is said.
    subject: str
    predicate: Required[str]
    object: Required[str]
    text: str
    valid_from: str
    valid_to: str
    confidence_base: float
    qualifiers: dict[str, str]
    #: The broad field; that of the relation, if nothing is said.
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
    """Something that was tried."""

    #: When: a time, or a date.
    date: str
    approach: Required[str]
    outcome: str
    successful: bool


class TaskIn(TypedDict, total=False):
    """A task, goal or problem."""

    title: Required[str]
    #: More than the title.
    description: str
    kind: Literal["task", "goal", "problem"]
    status: Literal["active", "stalled", "done", "dropped"]
    #: From 1 to 10; 5, if nothing is said.
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
    #: The memory's version from here on.
    seq: int
    #: Pin it to notice tampering later.
    hash: str
    items: list[str]
    #: True if the same request was answered before.
    replayed: bool
    redacted: NotRequired[list[str]]
    understood: NotRequired[Json]
    summarized: NotRequired[list[Json]]
    lag: str | None


class Recorded(TypedDict):
    """Proof that what was said is recorded."""

    event_id: str
    seq: int
    position: int
    items: list[str]
    replayed: bool
    events: list[Receipt]
    #: What still has to be done, if it could not be done now.
    lag: str | None


class Written(TypedDict):
    """What became of ready-made items."""

    accepted: list[str]
    rejected: list[Json]
    source: str | None
    #: What was sent and has no place, by where it stands: ``facts[0].version``.
    ignored: NotRequired[list[str]]
    replayed: bool


class Decision(TypedDict):
    """Whether memory answers the question."""

    verdict: Literal["answer", "verify", "clarify", "abstain"]
    #: That what was found answers, calibrated.
    probability: float
    reason: str
    question: NotRequired[str]
    of_another: bool
    signals: Json


class Answer(TypedDict):
    """An item that was found."""

    id: str
    kind: str
    score: float
    raw_score: float
    contributions: Json
    #: Who said it; of a fact, whom it is about.
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
    """What was found, by tier, best first."""

    profile: list[Answer]
    episodic: list[Answer]
    tasks: list[Answer]
    reflective: list[Answer]
    version: int
    decision: Decision
    #: What recall had to do without, if it did.
    degraded: str | None
    debug: Json


class Context(TypedDict):
    """A block of memory for a prompt: a pack, or with a session what its next reply needs."""

    text: str
    sections: list[Json]
    citations: list[str]
    #: Items that were found and are not in it, best first; ask for them by id.
    omitted: list[str]
    tokens: int
    counted_by: str
    version: int
    # Of a pack.
    #: What must never be forgotten and who the user is: the same for every question.
    stable: NotRequired[str]
    #: What was found for the question.
    changing: NotRequired[str]
    #: `nothing`, `task`, `memory`, or `unknown` if memory seems to have nothing about it.
    need: NotRequired[str]
    #: The lines of what is recalled that stand for items: mark, id, kind, speaker, said_at, trust, span, text, also.
    lines: NotRequired[list[Json]]
    decision: NotRequired[Decision]
    omitted_paths: NotRequired[list[str]]
    pack_id: NotRequired[str]
    degraded: NotRequired[str | None]
    # Of a session.
    session_id: NotRequired[str]
    system: NotRequired[str]
    messages: NotRequired[list[Json]]
    #: Messages of which only some sentences stand there.
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
    #: The same by an older name; use `items`.
    episodes: list[Json]


class Page(TypedDict):
    """A page of a list."""

    items: list[Json]
    #: On all pages.
    total: int
    #: What to give as `after` for the next page; None on the last.
    next: str | None


class EventPage(TypedDict):
    """A page of events."""

    items: list[Json]
    #: The same by an older name; use `items`.
    events: list[Json]
    #: On all pages.
    total: int
    next: int | None


class Blamed(TypedDict):
    """How something came to be what it is."""

    items: list[Json]
    #: The same by an older name; use `items`.
    steps: list[Json]


class Changed(TypedDict):
    """What was recorded of an item."""

    receipts: list[Receipt]


class Keys(TypedDict):
    """Every key, without secrets."""

    items: list[Json]
    #: The same by an older name; use `items`.
    keys: list[Json]
