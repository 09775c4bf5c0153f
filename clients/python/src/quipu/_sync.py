"""Blocking client. Generated from `_async.py` by `tools/make_sync.py`; do not edit."""

from __future__ import annotations

import time
import copy
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, cast

import httpx

from . import errors
from ._wire import USER_AGENT, Ask, Events, Patience, ask, check
from .types import (
    Blamed,
    Changed,
    Context,
    Core,
    Episodes,
    EventPage,
    FactIn,
    Intent,
    Json,
    Keys,
    Message,
    NoteIn,
    Page,
    Receipt,
    Recorded,
    Retrieved,
    Scope,
    TaskIn,
    TenetIn,
    Wait,
    Written,
)

#: A patch of the core document: a list of operations (RFC 6902).
Patch = Sequence[Json]


class Quipu:
    """A connection to a Quipu server.

    Requests that are safe to repeat are retried when the server is busy or unreachable. Writes that accept an
    idempotency key get a generated one by default. Methods raise the exceptions of `quipu.errors`.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:7077",
        *,
        api_key: str | None = None,
        timeout: float = 30.0,
        patience: Patience | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {"User-Agent": USER_AGENT}
        if api_key is not None:
            headers["Authorization"] = f"Bearer {api_key}"
        self._http = httpx.Client(
            base_url=base_url.rstrip("/"), headers=headers, timeout=timeout, transport=transport, trust_env=False
        )
        self._patience = patience or Patience()
        self._freshness: dict[str, str] = {}

    def __enter__(self) -> Quipu:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def requiring(self, *, min_version: int | None = None, max_staleness_ms: int | None = None) -> Quipu:
        """A client on the same connections, for requests about memories that say how current the answer must be.

        `min_version` is the `version` of a receipt: the answer contains it, or `errors.PreconditionFailed` is raised. With
        `max_staleness_ms` the server may answer from what it knew so many milliseconds ago; by default it asks its
        store for what other servers have recorded.
        """
        other = copy.copy(self)
        other._freshness = {}
        if min_version is not None:
            other._freshness["X-Memory-Min-Version"] = str(min_version)
        if max_staleness_ms is not None:
            other._freshness["X-Memory-Max-Staleness-Ms"] = str(max_staleness_ms)
        return other

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _send(self, request: Ask) -> Any:
        """Sends a request, with retries where repeating it is safe, and returns the response."""
        tried = 0
        while True:
            tried += 1
            problem: Exception
            try:
                answer = self._http.request(
                    request.method,
                    request.path,
                    params=request.query,
                    json=request.body,
                    headers={**self._freshness, **request.headers},
                )
                check(answer.status_code, answer.content, answer.headers)
                return answer.text if request.as_text else answer.json()
            except errors.Refusal as refusal:
                problem = refusal
            except httpx.TransportError as lost:
                problem = errors.NotReached(f"{request.method} {request.path}: {lost or type(lost).__name__}")
                problem.__cause__ = lost
            wait = self._patience.wait(tried, problem, request)
            if wait is None:
                raise problem
            time.sleep(wait)

    # Recording.

    def add_turns(
        self,
        user_id: str,
        messages: Sequence[Message],
        *,
        session_id: str | None = None,
        said_at: str | None = None,
        topic: str | None = None,
        wait: Wait | None = None,
        idempotency_key: str | None = None,
        if_version: int | None = None,
    ) -> Recorded:
        """Records messages, all or none."""
        body = {"messages": messages, "session_id": session_id, "said_at": said_at, "topic": topic, "wait": wait}
        made = ask(
            "POST", "/memory/{}/turns", user_id, body=body,
            keyed=True, idempotency_key=idempotency_key, if_version=if_version,
        )  # fmt: skip
        return cast(Recorded, self._send(made))

    def add_session_turns(
        self,
        user_id: str,
        session_id: str,
        messages: Sequence[Message],
        *,
        said_at: str | None = None,
        topic: str | None = None,
        wait: Wait | None = None,
        idempotency_key: str | None = None,
        if_version: int | None = None,
    ) -> Recorded:
        """Records messages of a session."""
        body = {"messages": messages, "said_at": said_at, "topic": topic, "wait": wait}
        made = ask(
            "POST", "/memory/{}/sessions/{}/turns", user_id, session_id, body=body,
            keyed=True, idempotency_key=idempotency_key, if_version=if_version,
        )  # fmt: skip
        return cast(Recorded, self._send(made))

    def add_entry(
        self,
        user_id: str,
        topic: str,
        text: str,
        *,
        said_at: str | None = None,
        wait: Wait | None = None,
        idempotency_key: str | None = None,
        if_version: int | None = None,
    ) -> Recorded:
        """Records a journal entry under a topic."""
        body = {"topic": topic, "text": text, "said_at": said_at, "wait": wait}
        made = ask(
            "POST", "/memory/{}/entries", user_id, body=body,
            keyed=True, idempotency_key=idempotency_key, if_version=if_version,
        )  # fmt: skip
        return cast(Recorded, self._send(made))

    def write(
        self,
        *,
        user_id: str | None = None,
        actor: Literal["user", "agent", "system", "tool"] | None = None,
        facts: Sequence[FactIn] = (),
        reflective: Sequence[NoteIn] = (),
        tasks: Sequence[TaskIn] = (),
        tenets: Sequence[TenetIn] = (),
        episodes: Sequence[Json] = (),
        idempotency_key: str | None = None,
        if_version: int | None = None,
    ) -> Written:
        """Writes items: those `accepted` count, those `waiting` do once their review is decided."""
        body = {
            "user_id": user_id, "actor": actor, "facts": facts, "reflective": reflective, "tasks": tasks,
            "tenets": tenets, "episodes": episodes,
        }  # fmt: skip
        made = ask(
            "POST", "/memory/write", body=body, keyed=True, idempotency_key=idempotency_key, if_version=if_version
        )
        return cast(Written, self._send(made))

    # Recall and the core document.

    def retrieve(
        self,
        query: str,
        *,
        user_id: str | None = None,
        active_goal: str | None = None,
        k: int | None = None,
        intent: Intent | None = None,
        as_of: str | None = None,
        valid_at: str | None = None,
        session_id: str | None = None,
        budget: int | None = None,
        explain: bool = False,
    ) -> Retrieved:
        """Items that answer a question, by tier, best first."""
        body = {
            "user_id": user_id, "query": query, "active_goal": active_goal, "K": k, "intent": intent, "as_of": as_of,
            "valid_at": valid_at, "session_id": session_id, "budget": budget, "explain": explain,
        }  # fmt: skip
        return cast(Retrieved, self._send(ask("POST", "/memory/retrieve", body=body, reads=True)))

    def context(
        self,
        user_id: str,
        query: str | None = None,
        *,
        messages: Sequence[Message] | None = None,
        intent: Intent | None = None,
        session_id: str | None = None,
        max_tokens: int | None = None,
        as_of: str | None = None,
        now: str | None = None,
        tokenizer: str | None = None,
        ids: bool | None = None,
        cite: bool | None = None,
    ) -> Context:
        """The block of memory for a prompt: the pack for a question, or the context of a session."""
        body = {
            "query": query, "messages": messages, "intent": intent, "session_id": session_id, "max_tokens": max_tokens,
            "as_of": as_of, "now": now, "tokenizer": tokenizer, "ids": ids, "cite": cite,
        }  # fmt: skip
        return cast(Context, self._send(ask("POST", "/memory/{}/context", user_id, body=body, reads=True)))

    def pack(self, user_id: str, pack_id: str) -> Json:
        """Recreates a pack from its id."""
        return cast(Json, self._send(ask("GET", "/memory/{}/packs/{}", user_id, pack_id)))

    def core(self, user_id: str, *, at: str | None = None) -> Core:
        """The core document and its version."""
        return cast(Core, self._send(ask("GET", "/memory/{}", user_id, query={"at": at})))

    def patch_core(
        self,
        user_id: str,
        patch: Patch,
        *,
        id: str | None = None,
        timestamp: str | None = None,
        actor: Literal["user"] | None = None,
        source: str | None = None,
        confidence: float | None = None,
        rationale: str | None = None,
        idempotency_key: str | None = None,
        if_version: int | None = None,
    ) -> Receipt:
        """Patches the core document on the user's behalf."""
        body = {
            "patch": patch, "id": id, "timestamp": timestamp, "actor": actor, "source": source,
            "confidence": confidence, "rationale": rationale,
        }  # fmt: skip
        made = ask(
            "POST", "/memory/{}/events", user_id, body=body,
            keyed=True, idempotency_key=idempotency_key or id, if_version=if_version,
        )  # fmt: skip
        return cast(Receipt, self._send(made))

    def episodes(
        self,
        user_id: str,
        *,
        topics: Sequence[str] | None = None,
        paths: Sequence[str] | None = None,
        k: int | None = None,
        at: str | None = None,
    ) -> Episodes:
        """Episodes, those nearest to the given topics and paths of the core document first."""
        query = {"topics": topics, "paths": paths, "k": k, "at": at}
        return cast(Episodes, self._send(ask("GET", "/memory/{}/episodes", user_id, query=query)))

    # Lists. `each` iterates over all pages of a list.

    def facts(
        self,
        user_id: str,
        *,
        at: str | None = None,
        valid_at: str | None = None,
        all: bool | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> Page:
        """Current facts, most important first."""
        query = {
            "at": at, "valid_at": valid_at, "all": all, "subject": subject, "predicate": predicate, "after": after,
            "limit": limit,
        }  # fmt: skip
        return cast(Page, self._send(ask("GET", "/memory/{}/facts", user_id, query=query)))

    def tasks(
        self,
        user_id: str,
        *,
        at: str | None = None,
        all: bool | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> Page:
        """Open tasks, goals and problems."""
        query = {"at": at, "all": all, "after": after, "limit": limit}
        return cast(Page, self._send(ask("GET", "/memory/{}/tasks", user_id, query=query)))

    def notes(
        self, user_id: str, *, at: str | None = None, after: str | None = None, limit: int | None = None
    ) -> Page:
        """Notes."""
        query = {"at": at, "after": after, "limit": limit}
        return cast(Page, self._send(ask("GET", "/memory/{}/notes", user_id, query=query)))

    def tenets(
        self,
        user_id: str,
        *,
        at: str | None = None,
        all: bool | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> Page:
        """Lines of the self-model."""
        query = {"at": at, "all": all, "after": after, "limit": limit}
        return cast(Page, self._send(ask("GET", "/memory/{}/tenets", user_id, query=query)))

    def sessions(
        self, user_id: str, *, at: str | None = None, after: str | None = None, limit: int | None = None
    ) -> Page:
        """Conversations."""
        query = {"at": at, "after": after, "limit": limit}
        return cast(Page, self._send(ask("GET", "/memory/{}/sessions", user_id, query=query)))

    def topics(self, user_id: str, *, after: str | None = None, limit: int | None = None) -> Page:
        """Topic memories, newest first."""
        query = {"after": after, "limit": limit}
        return cast(Page, self._send(ask("GET", "/memory/{}/topics", user_id, query=query)))

    def conflicts(self, user_id: str, *, after: str | None = None, limit: int | None = None) -> Page:
        """Conflicting values."""
        query = {"after": after, "limit": limit}
        return cast(Page, self._send(ask("GET", "/memory/{}/conflicts", user_id, query=query)))

    def review(
        self, user_id: str, *, decided: bool | None = None, after: str | None = None, limit: int | None = None
    ) -> Page:
        """The review queue."""
        query = {"decided": decided, "after": after, "limit": limit}
        return cast(Page, self._send(ask("GET", "/memory/{}/review", user_id, query=query)))

    def each(self, of: Callable[..., Page], user_id: str, **asked: Any) -> Iterator[Json]:
        """Iterates over all entries of a list, page by page: `client.each(client.facts, "ines")`."""
        while True:
            page = of(user_id, **asked)
            for entry in page["items"]:
                yield entry
            if page["next"] is None:
                return
            asked["after"] = page["next"]

    # Sessions and items.

    def global_memory(self, user_id: str) -> Json:
        """The global memory: active topics and permanent facts."""
        return cast(Json, self._send(ask("GET", "/memory/{}/global", user_id)))

    def session(self, user_id: str, session_id: str, *, at: str | None = None) -> Json:
        """The state of a session: base truth, turn log, raw window and artifacts."""
        made = ask("GET", "/memory/{}/sessions/{}", user_id, session_id, query={"at": at})
        return cast(Json, self._send(made))

    def item(self, user_id: str, item_id: str, *, at: str | None = None) -> Json:
        """An item of any kind."""
        return cast(Json, self._send(ask("GET", "/memory/{}/items/{}", user_id, item_id, query={"at": at})))

    def why(self, user_id: str, item_id: str) -> Json:
        """The evidence of an item, and every event about it."""
        return cast(Json, self._send(ask("GET", "/memory/{}/items/{}/why", user_id, item_id)))

    def change_item(
        self,
        user_id: str,
        item_id: str,
        *,
        pinned: bool | None = None,
        rating: int | None = None,
        user_fact_score: int | None = None,
        text: str | None = None,
        if_version: int | None = None,
    ) -> Changed:
        """Pins, rates, scores or rewords an item."""
        body = {"pinned": pinned, "rating": rating, "user_fact_score": user_fact_score, "text": text}
        made = ask("PATCH", "/memory/{}/items/{}", user_id, item_id, body=body, if_version=if_version)
        return cast(Changed, self._send(made))

    def close_fact(
        self, fact_id: str, valid_to: str, *, user_id: str | None = None, if_version: int | None = None
    ) -> Receipt:
        """Ends the validity of a fact at a given time."""
        body = {"user_id": user_id, "fact_id": fact_id, "valid_to": valid_to}
        made = ask("POST", "/memory/profile/version", body=body, if_version=if_version)
        return cast(Receipt, self._send(made))

    # History and undo.

    def events(self, user_id: str, *, after: int | None = None, limit: int | None = None) -> EventPage:
        """A page of events, oldest first."""
        query = {"after": after, "limit": limit}
        return cast(EventPage, self._send(ask("GET", "/memory/{}/events", user_id, query=query)))

    def each_event(self, user_id: str, *, after: int = 0) -> Iterator[Json]:
        """Iterates over all events recorded so far, oldest first."""
        while True:
            page = self.events(user_id, after=after)
            for event in page["items"]:
                yield event
            if page["next"] is None:
                return
            after = page["next"]

    def live_events(self, user_id: str, *, after: int = 0) -> Iterator[Json]:
        """Streams the events after a position, then new ones as they are recorded.

        Reconnects after a lost connection without repeating events.
        """
        request, tried = ask("GET", "/memory/{}/events", user_id), 0
        while True:
            headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
            problem: Exception
            try:
                # The server sends a keep-alive every fifteen seconds.
                stream = self._http.stream("GET", request.path, headers=headers, timeout=60.0)
                with stream as answer:
                    if answer.status_code != 200:
                        check(answer.status_code, answer.read(), answer.headers)
                    reader = Events()
                    for line in answer.iter_lines():
                        for name, event in reader.feed(line):
                            if name == "error":
                                raise errors.NotReached(f"the stream of events ended: {event.get('error')}")
                            after, tried = event["seq"], 0
                            yield event
                problem = errors.NotReached("the server ended the stream of events")
            except httpx.TransportError as lost:
                problem = errors.NotReached(f"GET {request.path}: {lost or type(lost).__name__}")
                problem.__cause__ = lost
            except errors.Refusal as refusal:
                problem = refusal
            tried += 1
            wait = self._patience.wait(tried, problem, request)
            if wait is None:
                raise problem
            time.sleep(wait)

    def diff(self, user_id: str, from_: str, to: str | None = None) -> Json:
        """Differences between two versions."""
        query = {"from": from_, "to": to}
        return cast(Json, self._send(ask("GET", "/memory/{}/diff", user_id, query=query)))

    def blame(self, user_id: str, path: str) -> Blamed:
        """Events that changed a path of the core document, or an item."""
        return cast(Blamed, self._send(ask("GET", "/memory/{}/blame", user_id, query={"path": path})))

    def verify(self, user_id: str, *, pin: str | None = None) -> Json:
        """Verifies the ledger; with a pin (`12:4f0c…`), also that no event up to the pin is missing."""
        return cast(Json, self._send(ask("GET", "/memory/{}/verify", user_id, query={"pin": pin})))

    def revert(
        self,
        user_id: str,
        *,
        events: Sequence[int | str] | None = None,
        source: str | None = None,
        session: str | None = None,
        since: int | str | None = None,
        rationale: str | None = None,
        probes: Sequence[str] = (),
        dry_run: bool = False,
        if_version: int | None = None,
    ) -> Json:
        """Reverts events, or previews a revert. Takes one of `events`, `source`, `session` and `since`."""
        body = {
            "events": events, "source": source, "session": session, "since": since, "rationale": rationale,
            "probes": probes, "dry_run": dry_run,
        }  # fmt: skip
        made = ask("POST", "/memory/{}/revert", user_id, body=body, if_version=if_version)
        return cast(Json, self._send(made))

    def pick(self, user_id: str, events: Sequence[int | str], into: str) -> Json:
        """Replays chosen events into another user's memory."""
        body = {"events": events, "into": into}
        return cast(Json, self._send(ask("POST", "/memory/{}/pick", user_id, body=body)))

    def fork(self, user_id: str, into: str, *, at: str | None = None) -> Receipt:
        """Copies a memory, up to a version, to a user without one."""
        body = {"into": into, "at": at}
        return cast(Receipt, self._send(ask("POST", "/memory/{}/fork", user_id, body=body)))

    # Review, corrections and deletion.

    def decide(
        self,
        user_id: str,
        review_id: str,
        action: Literal["approve", "edit", "decline", "undo"],
        *,
        text: str | None = None,
        rationale: str | None = None,
        if_version: int | None = None,
    ) -> Receipt:
        """Decides an entry of the review queue."""
        body = {"action": action, "text": text, "rationale": rationale}
        made = ask("POST", "/memory/{}/review/{}", user_id, review_id, body=body, if_version=if_version)
        return cast(Receipt, self._send(made))

    def merge(
        self, user_id: str, from_: Sequence[str], into: str, *, if_version: int | None = None
    ) -> Receipt:
        """Merges items of one kind."""
        body = {"from": from_, "into": into}
        made = ask("POST", "/memory/{}/merge", user_id, body=body, if_version=if_version)
        return cast(Receipt, self._send(made))

    def retract(
        self, user_id: str, item_id: str, *, reason: str | None = None, if_version: int | None = None
    ) -> Receipt:
        """Retracts an item; the history keeps it."""
        body = {"item_id": item_id, "reason": reason}
        made = ask("POST", "/memory/{}/retract", user_id, body=body, if_version=if_version)
        return cast(Receipt, self._send(made))

    def erase(
        self,
        user_id: str,
        targets: Sequence[str],
        *,
        reason: str | None = None,
        confirm: str | None = None,
        if_version: int | None = None,
    ) -> Json:
        """Destroys the payload of items, events or changes everywhere, and returns the receipt.

        Erasing more than 100 changes needs confirmation: without `confirm`, it raises `ConfirmationRequired`, which
        carries a preview and the token.
        """
        body = {"targets": targets, "reason": reason, "confirm": confirm}
        made = ask("POST", "/memory/{}/erase", user_id, body=body, if_version=if_version)
        return cast(Json, self._send(made))

    def delete_user(self, user_id: str, *, confirm: str | None = None, if_version: int | None = None) -> Json:
        """Deletes a user's whole memory and returns the receipt.

        Without `confirm` nothing is deleted: it raises `ConfirmationRequired`, which carries a preview and the token to
        pass as `confirm`. The token is valid until the memory changes.
        """
        made = ask("DELETE", "/memory/{}", user_id, query={"confirm": confirm}, if_version=if_version)
        return cast(Json, self._send(made))

    # Export and import.

    def export(
        self, user_id: str, *, format: Literal["json", "markdown", "mem0", "bundle"] | None = None
    ) -> str:
        """Exports a memory as text."""
        made = ask("GET", "/memory/{}/export", user_id, query={"format": format}, as_text=True)
        return cast(str, self._send(made))

    def import_file(
        self,
        user_id: str,
        format: str,
        *,
        text: str | None = None,
        base64: str | None = None,
        name: str | None = None,
        conversation: str | None = None,
        mine: bool = False,
        me: str | None = None,
        words_only: bool = False,
        timezone: str | None = None,
        date_order: Literal["dmy", "mdy"] | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Imports a file of another system, as text or as an archive in base64."""
        body = {
            "format": format, "text": text, "base64": base64, "name": name, "conversation": conversation, "mine": mine, "me": me,
            "words_only": words_only, "timezone": timezone, "date_order": date_order, "dry_run": dry_run,
        }  # fmt: skip
        return cast(Json, self._send(ask("POST", "/memory/{}/import", user_id, body=body)))

    # Consolidation.

    def promote(
        self,
        user_id: str,
        candidate: str,
        *,
        proposed_name: str | None = None,
        rationale: str | None = None,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        if_version: int | None = None,
    ) -> Json:
        """Promotes a pattern to a category."""
        body = {"candidate": candidate, "proposedName": proposed_name, "rationale": rationale, "dry_run": dry_run}
        made = ask(
            "POST", "/memory/{}/schema/promote", user_id, body=body,
            keyed=True, idempotency_key=idempotency_key, if_version=if_version,
        )  # fmt: skip
        return cast(Json, self._send(made))

    def compact(
        self, *, user_id: str | None = None, dry_run: bool = False, if_version: int | None = None
    ) -> Json:
        """Folds duplicates, promotes recurring facts and demotes unused items."""
        body = {"user_id": user_id, "dry_run": dry_run}
        return cast(Json, self._send(ask("POST", "/memory/compact", body=body, if_version=if_version)))

    # Keys and server status.

    def keys(self) -> Keys:
        """Every key, without secrets."""
        return cast(Keys, self._send(ask("GET", "/keys")))

    def create_key(self, name: str, scopes: Sequence[Scope], *, user_id: str | None = None) -> Json:
        """Creates a key. The secret is returned only once, in this response."""
        body = {"name": name, "scopes": scopes, "user_id": user_id}
        return cast(Json, self._send(ask("POST", "/keys", body=body)))

    def revoke_key(self, key_id: str) -> Json:
        """Revokes a key."""
        return cast(Json, self._send(ask("DELETE", "/keys/{}", key_id)))

    def ready(self) -> Json:
        """Readiness: the store responds and the queue of turns has room. Raises `Unavailable` otherwise."""
        return cast(Json, self._send(ask("GET", "/health/ready")))

    def version(self) -> Json:
        """Name and version of the server."""
        return cast(Json, self._send(ask("GET", "/version")))

    def openapi(self) -> Json:
        """The OpenAPI document of the server."""
        return cast(Json, self._send(ask("GET", "/openapi.json")))
