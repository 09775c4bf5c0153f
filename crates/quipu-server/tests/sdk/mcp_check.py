"""Tests MCP with its official Python library, over standard input and output and over HTTP.

    python mcp_check.py QUIPU

Adds in one connection and finds in the next, over both transports and in both revisions of the protocol.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import version

from mcp import Client, StdioServerParameters

USUAL = {
    "add_memory", "update_memory", "delete_memory", "search_memories", "get_context", "get_memory", "list_memories",
    "get_memory_history", "search", "fetch",
}
done = 0


def expect(what, condition, shown):
    global done
    if not condition:
        raise SystemExit(f"FAILED: {what}: {shown}")
    done += 1


async def conversation(what, server, mode, place):
    async with Client(server, mode=mode) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        expect(f"{what}: tools", tools == USUAL, tools)
        added = (await client.call_tool("add_memory", {"user_said": f"I live in {place}."})).model_dump(by_alias=True)
        expect(f"{what}: added", not added["isError"] and added["structuredContent"]["trust"] == ["user"], added)
        wrong = (await client.call_tool("search_memories", {})).model_dump(by_alias=True)
        expect(f"{what}: a wrong call", wrong["isError"] and "query" in wrong["content"][0]["text"], wrong)
    async with Client(server, mode=mode) as client:
        found = (await client.call_tool("search_memories", {"query": "Where do I live?"})).model_dump(by_alias=True)
        expect(f"{what}: found in the next connection", place in json.dumps(found["structuredContent"]), found)
        read = (await client.read_resource("memory://profile")).model_dump(by_alias=True)
        expect(f"{what}: the profile", place in read["contents"][0]["text"], read)
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        expect(f"{what}: prompts", prompts == ["context", "remember"], prompts)
        prompt = (await client.get_prompt("context", {"query": "Where do I live?"})).model_dump(by_alias=True)
        expect(f"{what}: the block", place in prompt["messages"][0]["content"]["text"], prompt)


async def files(what, server):
    """Tests the toolset of files, which the library must list and call like any other."""
    async with Client(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        expect(f"{what}: the files on demand", set(tools) == USUAL | {"memory"}, set(tools))
        hints = tools["memory"].model_dump(by_alias=True)["annotations"]
        expect(f"{what}: hints", hints["readOnlyHint"] is False and hints["destructiveHint"] is False, hints)
        asked = {"command": "create", "path": "/memories/plan.md", "file_text": "buy azulejos"}
        for arguments, words, fails in [
            (asked, "File created successfully at: /memories/plan.md", False),
            (asked, "File /memories/plan.md already exists", True),
            ({"command": "view", "path": "/memories/plan.md"}, "     1\tbuy azulejos", False),
            ({"command": "delete", "path": "/memories/plan.md"}, "Successfully deleted /memories/plan.md", False),
        ]:
            said = (await client.call_tool("memory", arguments)).model_dump(by_alias=True)
            expect(f"{what}: {arguments}", said["isError"] is fails and words in said["content"][0]["text"], said)


async def run(quipu, folder, settings):
    places = iter(["Porto", "Lyon", "Turin", "Ghent", "Bergen", "Kyoto"])
    own = StdioServerParameters(command=quipu, args=["--data-dir", f"{folder}/own", "mcp"], env=settings)
    serving = [quipu, "--data-dir", f"{folder}/served", "--json", "serve", "--addr", "127.0.0.1:0"]
    server = subprocess.Popen(serving, stdout=subprocess.PIPE, text=True, env=settings)
    try:
        url = f"http://{json.loads(server.stdout.readline())['addr']}/mcp"
        forward = StdioServerParameters(command=quipu, args=["mcp", "--server", url, "-u", "otto"], env=settings)
        # The newest revision, found by negotiation, and the handshake of the older ones.
        for mode in ("auto", "legacy"):
            await conversation(f"stdio, {mode}", own, mode, next(places))
            await conversation(f"http, {mode}", url, mode, next(places))
            await conversation(f"stdio to a server, {mode}", forward, mode, next(places))
        await files("files by stdio", StdioServerParameters(
            command=quipu, args=["--data-dir", f"{folder}/files", "mcp", "--toolsets", "files"], env=settings
        ))
        await files("files by http", f"{url}?toolsets=files")
        server.send_signal(signal.SIGINT)
        expect("an orderly end", server.wait(timeout=60) == 0, server.returncode)
    finally:
        server.kill()
        server.wait()


def main():
    quipu = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        settings = {name: value for name, value in os.environ.items() if not name.startswith(("QUIPU_", "OPENAI_", "ANTHROPIC_"))}
        settings |= {"HOME": folder, "XDG_CONFIG_HOME": folder}
        asyncio.run(run(quipu, folder, settings))
    print(f"{done} checks passed: mcp {version('mcp')}")


if __name__ == "__main__":
    main()
