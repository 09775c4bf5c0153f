"""Test data for the fuzzer: memories, items and reviews, and an OpenAPI document that names them.

A schema describes the form of a name, not which names exist. Without existing names most requests would concern nothing, and
operations on existing things would not be tested.
"""

import json
import urllib.error
import urllib.request

USER = "ines"
SESSIONS = ["spring", "summer", "autumn"]
SAID = [
    "I live in Porto.", "My sister is called Marta.", "I like green tea.", "I'm allergic to peanuts.", "I work at Acme.",
    "I have to call Rui tomorrow.", "I never eat meat.", "My dog is called Rex.", "I moved to Lisbon.", "I play chess on Fridays.",
]  # fmt: skip
# Number of copies of each thing that a request destroys.
SPARE = 40


class Server:
    def __init__(self, addr):
        self.base = f"http://{addr}"

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if data else {}
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()}") from error


def fill(addr):
    """Fills an empty server; returns the names of what was created, by kind."""
    server = Server(addr)
    for number in range(SPARE):
        words = SAID[number % len(SAID)] if number < len(SAID) else f"I saw film number {number} with Rui."
        turn = {"messages": [{"role": "user", "content": words}, {"role": "assistant", "content": "I see."}]}
        server.ask("POST", f"/memory/{USER}/turns", turn | {"session_id": SESSIONS[number % len(SESSIONS)]})
    facts = [{"predicate": "likes", "object": f"film {number}"} for number in range(SPARE)]
    tenets = [{"kind": "value", "text": f"Rule {number} matters to me"} for number in range(SPARE)]
    notes = [{"text": f"Film {number} was long"} for number in range(5)]
    tasks = [{"title": f"See film {number} again"} for number in range(5)]
    server.ask("POST", "/memory/write", {"user_id": USER, "facts": facts, "tenets": tenets, "reflective": notes, "tasks": tasks})
    server.ask("POST", f"/memory/{USER}/entries", {"topic": "films", "text": "The projector broke."})
    colours = {f"colour{number}": "blue" for number in range(3)}
    server.ask("POST", f"/memory/{USER}/events", {"patch": [{"op": "add", "path": "/uncategorized", "value": colours}]})
    context = server.ask("POST", f"/memory/{USER}/context", {"query": "Where do I live?"})
    listed = lambda what: server.ask("GET", f"/memory/{USER}/{what}?limit=100")["items"]
    facts = [fact["id"] for fact in listed("facts")]
    memories, events = [], []
    for number in range(SPARE):
        # One user each, so that a deletion leaves the others.
        said = {"messages": [{"role": "user", "content": "I collect stamps."}], "user_id": f"passing-{number}", "infer": False}
        events.append(server.ask("POST", "/v3/memories/add", said)["event_id"])
        found = server.ask("POST", "/v3/memories", {"filters": {"user_id": f"passing-{number}"}})
        memories += [one["id"] for one in found["results"]]
    for number in range(SPARE):
        kept = {"user_id": USER, "namespace": ["films"], "key": f"film-{number}", "value": {"title": f"Film {number}"}}
        server.ask("PUT", "/store/items", kept)
        file = {"command": "create", "path": f"/memories/film-{number}.txt", "file_text": "It was long.\nI left."}
        server.ask("POST", "/v1/memory-tool", file | {"user_id": USER})
    keys = [server.ask("POST", "/keys", {"name": f"spare {number}", "scopes": ["read"]})["id"] for number in range(SPARE)]
    return {
        "user": [USER],
        "session": SESSIONS,
        "item": facts + [task["id"] for task in listed("tasks")] + [note["id"] for note in listed("notes")],
        "fact": facts,
        "review": [one["id"] for one in listed("review")],
        "pack": [context["pack_id"]],
        "key": keys,
        "memory": memories,
        "event": events,
        "entity": [f"passing-{number}" for number in range(SPARE)],
        "position": list(range(1, 30)),
        "place": ["/location", "/uncategorized/colour0", *facts[:3]],
        "stored": [f"film-{number}" for number in range(SPARE)],
        "file": [f"/memories/film-{number}.txt" for number in range(SPARE)],
    }


# Number of branches with existing names: each is chosen as often as any other branch.
PARTS = 3
# Where existing names are offered: the end of a path, the name of a field, and the kind it names.
OFFERED = [
    ("", "user_id", "user"), ("", "session_id", "session"), ("", "item_id", "item"), ("", "fact_id", "fact"),
    ("", "review_id", "review"), ("", "pack_id", "pack"), ("", "key_id", "key"), ("", "memory_id", "memory"),
    ("/event/{event_id}", "event_id", "event"), ("/{kind}/{name}", "name", "entity"), ("/blame", "path", "place"),
    ("/merge", "into", "fact"), ("/merge", "from", "fact"), ("/erase", "targets", "item"), ("/revert", "events", "position"),
    ("/pick", "events", "position"), ("/store/items", "key", "stored"), ("/memory-tool", "path", "file"),
    # It reverts everything that was added through this interface.
    ("/v1/memories", "user_id", "entity"),
]  # fmt: skip
# Fields with one value that gives the others a meaning.
FIXED = [("/{kind}/{name}", "kind", ["user"]), ("/store/items", "namespace", [["films"]])]


def offer(schema, values):
    """The schema, or one of these values; for a list schema, a list of them."""
    if isinstance(schema, dict) and "items" in schema and not isinstance(values[0], list):
        return schema | {"items": offer(schema["items"], values)}
    several = [values[start::PARTS] for start in range(min(PARTS, len(values)))]
    return {"anyOf": [*({"enum": part} for part in several), schema]}


def with_existing(page, names):
    """A copy of the document whose parameters and bodies also offer existing names."""
    schemas = page["components"]["schemas"]
    bodies = {
        "/{user_id}/import": {"format": "markdown", "text": "# A walk\n\nI met Rui at the harbour."},
        "/store/items": {"user_id": USER, "namespace": ["films"], "key": "film-0", "value": {"title": "Film 0"}},
        "/v1/feedback": {"memory_id": names["memory"][1], "feedback": "POSITIVE"},
        "/v1/batch": {"memories": [{"memory_id": names["memory"][-2]}]},
    }
    table = [(end, field, names[what]) for end, field, what in OFFERED] + FIXED
    for path, methods in page["paths"].items():
        offered = {field: values for end, field, values in table if path.endswith(end)}
        for method, operation in methods.items():
            for parameter in operation.get("parameters", []):
                if parameter["name"] in offered and parameter["in"] != "header":
                    values = offered[parameter["name"]]
                    parameter["schema"] = offer(parameter["schema"], values)
                    # Things that a request destroys are not used by the others.
                    parameter["example"] = values[-1] if method == "delete" else values[0]
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            body = content.get("schema", {})
            # A separate body: another route may use the same schema.
            body = json.loads(json.dumps(schemas.get(body.get("$ref", "").rsplit("/", 1)[-1], body)))
            for field, schema in body.get("properties", {}).items():
                if field in offered:
                    body["properties"][field] = offer(schema, offered[field])
            if content:
                content["schema"] = body
            whole = next((sent for end, sent in bodies.items() if path.endswith(end)), None)
            if content and whole:
                content["example"] = {name: value for name, value in whole.items() if name in body["properties"]}
    several = schemas.get("One", {}).get("properties", {})
    if "memory_id" in several:
        several["memory_id"] = offer(several["memory_id"], names["memory"])
    return page
