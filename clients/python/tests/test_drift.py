"""Checks that each route has a method and each field an argument, and that both clients agree."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from quipu import AsyncQuipu, Quipu

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import make_sync  # noqa: E402

#: Routes for monitoring or other protocols, which this client does not cover.
NOT_FOR_CALLERS = re.compile(r"^/(health/(live|maintenance)$|metrics$|v1/|v2/|v3/|store|mcp|proxy|$)")
#: Methods without a route of their own.
BESIDE_ROUTES = {"close", "each", "each_event", "live_events", "requiring"}
#: Arguments whose names differ from those of the fields.
RENAMED = {"from_": "from", "k": "K", "proposed_name": "proposedName"}


def asked(name: str, method: Callable[..., Any]) -> tuple[str, str, set[str], set[str]]:
    """Calls a method with a value for each argument and returns the method, path, fields and parameters it sends."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"items": [], "next": None})

    client = Quipu("http://quipu", transport=httpx.MockTransport(answer))
    arguments: dict[str, Any] = {}
    for argument, parameter in list(inspect.signature(method).parameters.items())[1:]:
        kind = str(parameter.annotation)
        value: Any = f"<{argument}>"
        if "Sequence" in kind or "Patch" in kind:
            value = [value]
        elif kind.startswith("bool"):
            value = True
        elif kind.startswith("float"):
            value = 1.0
        elif kind.startswith("int") and argument != "since":
            value = 1
        arguments[argument] = value
    method(client, **arguments)
    (request,) = seen
    path = re.sub(r"%3C(\w+)%3E", r"{\1}", request.url.raw_path.decode().split("?")[0])
    fields = set(json.loads(request.content)) if request.content else set()
    headers = {header for header in ("idempotency-key", "if-match") if header in request.headers}
    return request.method, path, fields, set(request.url.params) | headers


def test_every_route_has_a_method_and_every_field_an_argument(memory: Quipu) -> None:
    page = memory.openapi()
    routes = {}
    for name, method in inspect.getmembers(Quipu, inspect.isfunction):
        if not name.startswith("_") and name not in BESIDE_ROUTES:
            verb, path, fields, parameters = asked(name, method)
            assert (verb, path) not in routes, f"{name} calls the route of another method"
            routes[verb, path] = name, fields, parameters
    described = {
        (verb.upper(), path): operation
        for path, verbs in page["paths"].items()
        for verb, operation in verbs.items()
        if not NOT_FOR_CALLERS.search(path)
    }
    assert routes.keys() == described.keys()
    for route, operation in described.items():
        name, fields, parameters = routes[route]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        if "$ref" in body:
            body = page["components"]["schemas"][body["$ref"].rsplit("/", 1)[1]]
        assert fields == set(body.get("properties", {})), f"{name}: fields of the body"
        in_page = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
        for header in ("Idempotency-Key", "If-Match"):
            if any(one["name"] == header for one in operation.get("parameters", [])):
                in_page.add(header.lower())
        assert parameters == in_page, f"{name}: parameters"


def test_there_is_one_client_to_change() -> None:
    assert (make_sync.FOLDER / "_sync.py").read_text() == make_sync.made(), "run `python tools/make_sync.py`"

    def surface(client: type) -> dict[str, list[str]]:
        members = inspect.getmembers(client, inspect.isfunction)
        return {name: list(inspect.signature(one).parameters) for name, one in members if not name.startswith("__")}

    assert surface(Quipu) == surface(AsyncQuipu)
