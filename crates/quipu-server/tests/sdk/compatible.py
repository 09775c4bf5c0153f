"""Tests `quipu serve` with clients and tools of other systems, changing only their address.

    python compatible.py QUIPU

mem0's client adds and searches; LangGraph's store, through the adapter, is compared with the one LangGraph ships; Anthropic's
memory tool is compared with the one its library ships, message by message.
"""

import asyncio
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

PATIENCE = 60
HERE = pathlib.Path(__file__).resolve()
ADAPTER = HERE.parents[4] / "clients/python/src/quipu/langgraph.py"


class Check:
    def __init__(self, base, key):
        self.base = base
        self.key = key
        self.done = 0

    def expect(self, what, condition, shown=""):
        if not condition:
            raise SystemExit(f"FAILED: {what}: {shown}")
        self.done += 1

    def same(self, what, own, other):
        self.expect(what, own == other, f"{own!r} is not {other!r}")


def deleted(check, path):
    """Confirms a deletion with the token of its preview."""

    def ask(query=""):
        request = urllib.request.Request(f"{check.base}{path}{query}", method="DELETE")
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    try:
        return ask()
    except urllib.error.HTTPError as error:
        check.same("an announcement", error.code, 428)
        token = json.load(error)["error"]["confirm"]
    return ask(f"?confirm={token}")["erasure"]["user_id"]


def of_mem0(check):
    from mem0 import MemoryClient
    from mem0.exceptions import MemoryNotFoundError, ValidationError

    # Where no key is required, any key a client sends is accepted.
    client = MemoryClient(api_key="m0-made-up", host=check.base)
    said = [{"role": "user", "content": "I live in Porto."}, {"role": "assistant", "content": "Noted."}]
    added = client.add(said, user_id="ines", run_id="monday", metadata={"origin": "form"})
    check.same("add", [one["data"]["memory"] for one in added["results"]], ["User lives in Porto"])
    memory_id = added["results"][0]["id"]
    client.add("The boat is blue and old.", user_id="ines", infer=False)
    # What one client adds, the next one finds.
    other = MemoryClient(api_key=check.key, host=check.base)
    found = other.search("Where does the user live?", filters={"user_id": "ines"})["results"]
    check.same("search", (found[0]["id"], found[0]["memory"]), (memory_id, "User lives in Porto"))
    check.expect("scores", all(isinstance(one["score"], float) for one in found), found)
    narrowed = other.search("home", filters={"AND": [{"user_id": "ines"}, {"metadata": {"origin": "form"}}]}, top_k=3)
    check.expect("search by metadata", {one["metadata"]["origin"] for one in narrowed["results"]} == {"form"}, narrowed)
    page = other.get_all(filters={"user_id": "ines"}, page=1, page_size=1)
    check.same("get_all", (page["count"], len(page["results"]), bool(page["next"])), (2, 1, True))
    check.same("get", other.get(memory_id)["metadata"], {"origin": "form"})
    client.update(memory_id, text="User lives in Lyon", metadata={"mood": "calm"})
    now = other.get(memory_id)
    check.same("update", (now["memory"], now["metadata"]), ("User lives in Lyon", {"origin": "form", "mood": "calm"}))
    client.update(memory_id, text="I moved to Ghent in May.")
    history = [(one["event"], one["new_memory"]) for one in other.history(memory_id)]
    expected = [("ADD", "User lives in Porto"), ("UPDATE", "User lives in Lyon"), ("UPDATE", "I moved to Ghent in May.")]
    check.same("history", history, expected)
    check.same("feedback", client.feedback(memory_id, feedback="POSITIVE", feedback_reason="so it is")["feedback"], "POSITIVE")
    client.add("Otto likes soup.", agent_id="cook", infer=False)
    users = {(one["type"], one["name"]) for one in client.users()["results"]}
    check.expect("users", {("user", "ines"), ("agent", "cook")} <= users, users)
    boat = next(one["id"] for one in client.get_all(filters={"user_id": "ines"})["results"] if "boat" in one["memory"])
    client.batch_update([{"memory_id": boat, "text": "The boat is green."}])
    check.same("batch_update", client.get(boat)["memory"], "The boat is green.")
    client.batch_delete([{"memory_id": boat}])
    check.same("batch_delete", client.get_all(filters={"user_id": "ines"})["count"], 1)
    client.delete(memory_id)
    found = client.search("Where does the user live?", filters={"user_id": "ines"})["results"]
    check.expect("delete", not any(place in str(found) for place in ("Porto", "Lyon", "Ghent")), found)
    try:
        client.get(memory_id)
        check.expect("a memory that is gone", False)
    except MemoryNotFoundError as error:
        check.expect("a memory that is gone", "no item" in str(error), error)
    try:
        client.search("x", filters={"user_id": {"near": 1}})
        check.expect("a wrong filter", False)
    except ValidationError as error:
        check.expect("a wrong filter", "operator" in str(error), error)
    client.add("I like green tea.", user_id="ines")
    client.delete_all(user_id="ines")
    check.same("delete_all", client.get_all(filters={"user_id": "ines"})["count"], 0)
    # Deleting a whole memory first returns a preview; the token in the refusal confirms it.
    for asked in ({"agent_id": "cook"}, {}):
        try:
            client.delete_users(**asked)
            check.expect("delete_users without a clear word", False)
        except Exception as error:
            check.expect("delete_users without a clear word", "Nothing was destroyed" in str(error), error)
    check.same("nothing is deleted yet", client.get_all(filters={"agent_id": "cook"})["count"], 1)
    check.same("an announced deletion", deleted(check, "/v2/entities/agent/cook/"), "agent:cook")
    check.same("delete_users", client.get_all(filters={"agent_id": "cook"})["count"], 0)
    # An edited task keeps its id, and is found by its new text.
    added = client.add("I need to renew my passport by Friday.", user_id="otto")
    task = added["results"][0]["id"]
    for text in ("Renew the driving licence", "Renew the fishing permit"):
        check.same("update of a task", client.update(task, text=text)["id"], task)
        found = client.search(text, filters={"user_id": "otto"})["results"]
        check.same("search after update", (found[0]["id"], found[0]["memory"]), (task, text))
        check.same("get after update", client.get(task)["memory"], text)
    found = client.search("passport", filters={"user_id": "otto"})["results"]
    check.expect("the old words are gone", not any("passport" in one["memory"] for one in found), found)
    check.same("history of a task", len(client.history(task)), 3)
    client.delete(task)
    check.same("delete after update", client.get_all(filters={"user_id": "otto"})["count"], 0)
    asyncio.run(of_async_mem0(check))


async def of_async_mem0(check):
    from mem0 import AsyncMemoryClient

    async with AsyncMemoryClient(api_key=check.key, host=check.base) as client:
        await client.add("I live in Turin.", user_id="ada")
        found = await client.search("Where does the user live?", filters={"user_id": "ada"})
        check.expect("search, asynchronous", "Turin" in found["results"][0]["memory"], found)


def of_langgraph(check):
    from langgraph.store.memory import InMemoryStore

    spec = importlib.util.spec_from_file_location("quipu_langgraph", ADAPTER)
    adapter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(adapter)
    own, other = adapter.QuipuStore(check.base, api_key=check.key, user_id="graph"), InMemoryStore()

    def both(what, run):
        def plain(found):
            if isinstance(found, list):
                return sorted((plain(one) for one in found), key=repr)
            return found if found is None or isinstance(found, tuple) else (found.namespace, found.key, found.value)

        check.same(f"store: {what}", plain(run(own)), plain(run(other)))

    values = [
        (("users", "ines"), "food", {"text": "Ines likes pizza.", "stars": 5}),
        (("users", "ines"), "car", {"text": "The red car needs new tyres.", "stars": 2}),
        (("users", "otto"), "food", {"text": "Otto likes soup.", "deep": {"list": [1, None, "ü"]}}),
        (("docs",), "a b/c?", {}),
    ]
    for namespace, key, value in values:
        both(f"put {key}", lambda store: store.put(namespace, key, value))
    for namespace, key, _ in values:
        both(f"get {key}", lambda store: store.get(namespace, key))
    both("get nothing", lambda store: store.get(("docs",), "none"))
    both("put again", lambda store: store.put(("docs",), "a b/c?", {"now": True}))
    both("get again", lambda store: store.get(("docs",), "a b/c?"))
    both("search", lambda store: store.search(("users",)))
    both("search all", lambda store: store.search(()))
    both("filter", lambda store: store.search(("users", "ines"), filter={"stars": {"$gte": 2}}))
    both("filter by value", lambda store: store.search(("users", "ines"), filter={"stars": 5}))
    both("namespaces", lambda store: store.list_namespaces())
    both("namespaces by prefix", lambda store: store.list_namespaces(prefix=("users",), max_depth=1))
    both("namespaces by suffix", lambda store: store.list_namespaces(suffix=("*", "otto")))
    both("delete", lambda store: store.delete(("users", "ines"), "food"))
    both("get what is deleted", lambda store: store.get(("users", "ines"), "food"))
    both("asynchronous", lambda store: asyncio.run(store.aget(("users", "otto"), "food")))
    found = own.search(("users",), query="tyres of the car")
    check.same("store: nearest first", found[0].key, "car")
    created = own.get(("docs",), "a b/c?")
    check.expect("store: times", created.created_at <= created.updated_at, created)
    try:
        own.batch([adapter.PutOp(("a.b",), "k", {})])
        check.expect("store: a wrong namespace", False)
    except RuntimeError as error:
        check.expect("store: a wrong namespace", "namespace" in str(error), error)


def of_memory_tool(check, folder):
    from anthropic.lib.tools import ToolError
    from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

    tool = BetaLocalFilesystemMemoryTool(base_path=folder)

    def run(command):
        try:
            return tool.call(command), False
        except ToolError as error:
            return str(error.content if hasattr(error, "content") else error), True

    def ask(command):
        body = json.dumps(command | {"user_id": "tool"}).encode()
        request = urllib.request.Request(f"{check.base}/v1/memory-tool", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            ran = json.load(answer)
        return ran["content"], ran["is_error"]

    # The size of a folder depends on the disk.
    sizes = re.compile(r"^\S+\t(?=.*/$|/memories[^.]*$)", re.MULTILINE)
    a, b = "/memories/a.md", "/memories/work/plan.txt"
    commands = [
        {"command": "view", "path": "/memories"},
        {"command": "create", "path": a, "file_text": "one\ntwo\nthree\ntwo\n"},
        {"command": "create", "path": a, "file_text": "x"},
        {"command": "create", "path": b, "file_text": "é" * 700},
        {"command": "create", "path": "/memories/work/deep/er/x.txt", "file_text": ""},
        {"command": "view", "path": "/memories"},
        {"command": "view", "path": "/memories/work"},
        {"command": "view", "path": a},
        {"command": "view", "path": a, "view_range": [2, 3]},
        {"command": "view", "path": a, "view_range": [3, -1]},
        {"command": "view", "path": a, "view_range": [0, 99]},
        {"command": "view", "path": "/memories/none"},
        {"command": "view", "path": "/elsewhere"},
        {"command": "view", "path": "/memories/../../etc/passwd"},
        {"command": "str_replace", "path": a, "old_str": "two", "new_str": "2"},
        {"command": "str_replace", "path": a, "old_str": "one\ntwo", "new_str": "1"},
        {"command": "str_replace", "path": a, "old_str": "four", "new_str": "4"},
        {"command": "str_replace", "path": "/memories/work", "old_str": "a", "new_str": "b"},
        {"command": "insert", "path": a, "insert_line": 0, "insert_text": "first\n"},
        {"command": "insert", "path": a, "insert_line": 4, "insert_text": "last"},
        {"command": "insert", "path": a, "insert_line": 99, "insert_text": "x"},
        {"command": "insert", "path": a, "insert_line": -1, "insert_text": "x"},
        {"command": "view", "path": a},
        {"command": "rename", "old_path": a, "new_path": b},
        {"command": "rename", "old_path": a, "new_path": "/memories/new/b.md"},
        {"command": "rename", "old_path": a, "new_path": "/memories/c.md"},
        {"command": "rename", "old_path": "/memories/work", "new_path": "/memories/job"},
        {"command": "view", "path": "/memories/job/plan.txt"},
        {"command": "delete", "path": "/memories/job"},
        {"command": "delete", "path": "/memories/job"},
        {"command": "delete", "path": "/memories"},
        {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    ]
    for command in commands:
        own, other = ask(command), run(command)
        plain = [(sizes.sub("", text), is_error) for text, is_error in (own, other)]
        check.same(f"memory tool: {command}", *plain)


def main():
    (quipu,) = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"MEM0_DIR": f"{folder}/mem0", "MEM0_TELEMETRY": "False"}
        settings = {name: value for name, value in os.environ.items() if not name.startswith(("QUIPU_", "OPENAI_", "ANTHROPIC_"))}
        settings |= {"HOME": folder, "XDG_CONFIG_HOME": folder}
        made = [quipu, "--data-dir", f"{folder}/data", "--json", "key", "create", "clients", "--scope", "admin"]
        key = json.loads(subprocess.run(made, check=True, capture_output=True, text=True, env=settings).stdout)["key"]
        command = [quipu, "--data-dir", f"{folder}/data", "--json", "serve", "--addr", "127.0.0.1:0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings)
        try:
            check = Check("http://" + json.loads(server.stdout.readline())["addr"], key)
            of_mem0(check)
            of_langgraph(check)
            of_memory_tool(check, f"{folder}/tool")
            server.send_signal(signal.SIGINT)
            check.expect("an orderly end", server.wait(timeout=PATIENCE) == 0, server.returncode)
        finally:
            server.kill()
            server.wait()
    print(f"{check.done} checks passed")


if __name__ == "__main__":
    main()
