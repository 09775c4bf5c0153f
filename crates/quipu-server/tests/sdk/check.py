"""Tests `quipu serve` with the published client libraries of OpenAI and Anthropic, changing only their base URL.

    python check.py QUIPU FAKE_MODEL

Starts the fake model server with `quipu serve` in front of it, sends a message through each library in one conversation and a
question in another, and checks the requests the model received.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import anthropic
import openai

PATIENCE = 60


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def settled(base):
    """Waits until all messages are recorded."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if json.loads(get(f"{base}/health/ready"))["turns_waiting"] == 0:
            return
        time.sleep(0.02)
    raise SystemExit("turns were not recorded in time")


class Check:
    def __init__(self, base, received):
        self.base = base
        self.received = received
        self.done = 0

    def last_sent(self):
        return json.loads(get(self.received))[-1]

    def expect(self, what, condition, shown):
        if not condition:
            raise SystemExit(f"FAILED: {what}: {shown}")
        self.done += 1

    def knows(self, what, place, user):
        """The last request contains what was said in another conversation, once, and none of Quipu's headers or keys."""
        sent = self.last_sent()
        body = sent["body"]
        self.expect(f"{what}: the block", body.count('<memory user=\\"' + user + '\\" version=') == 1, body)
        self.expect(f"{what}: what was told", place in body, body)
        ours = [name for name, _ in sent["headers"] if name.startswith("x-memory")]
        self.expect(f"{what}: no header of ours", not ours, ours)
        credentials = dict(sent["headers"])
        key = credentials.get("authorization", "").removeprefix("Bearer ") or credentials.get("x-api-key")
        self.expect(f"{what}: the caller's own key", key == "sk-own", credentials)


def of_chat(check, client, user, stream):
    def say(session, words):
        headers = {"X-Memory-User": user, "X-Memory-Session": session}
        messages = [{"role": "user", "content": words}]
        if not stream:
            raw = client.chat.completions.with_raw_response.create(model="fake-model", messages=messages, extra_headers=headers)
            return raw.headers, raw.parse().choices[0].message.content
        with client.chat.completions.with_streaming_response.create(
            model="fake-model", messages=messages, stream=True, extra_headers=headers
        ) as raw:
            pieces = [chunk.choices[0].delta.content or "" for chunk in raw.parse() if chunk.choices]
            return raw.headers, "".join(pieces)

    return say


def of_responses(check, client, user, stream):
    def say(session, words):
        headers = {"X-Memory-User": user, "X-Memory-Session": session}
        if not stream:
            raw = client.responses.with_raw_response.create(model="fake-model", input=words, extra_headers=headers)
            return raw.headers, raw.parse().output_text
        with client.responses.with_streaming_response.create(
            model="fake-model", input=words, stream=True, extra_headers=headers
        ) as raw:
            pieces = [event.delta for event in raw.parse() if event.type == "response.output_text.delta"]
            return raw.headers, "".join(pieces)

    return say


def of_messages(check, client, user, stream):
    def say(session, words):
        headers = {"X-Memory-User": user, "X-Memory-Session": session}
        asked = {"model": "fake-model", "max_tokens": 64, "messages": [{"role": "user", "content": words}]}
        if not stream:
            raw = client.messages.with_raw_response.create(**asked, extra_headers=headers)
            return raw.headers, raw.parse().content[0].text
        with client.messages.with_streaming_response.create(**asked, stream=True, extra_headers=headers) as raw:
            deltas = (event.delta for event in raw.parse() if event.type == "content_block_delta")
            return raw.headers, "".join(delta.text for delta in deltas)

    return say


def run(check):
    of_openai = openai.OpenAI(base_url=f"{check.base}/v1", api_key="sk-own", max_retries=0)
    of_anthropic = anthropic.Anthropic(base_url=check.base, api_key="sk-own", max_retries=0)
    ways = [("chat", of_chat, of_openai), ("responses", of_responses, of_openai), ("messages", of_messages, of_anthropic)]
    places = iter(["Porto", "Lyon", "Turin", "Ghent", "Bergen", "Kyoto"])
    for name, way, client in ways:
        for stream in (False, True):
            what, place = f"{name}{' streamed' if stream else ''}", next(places)
            user = what.replace(" ", "-")
            say = way(check, client, user, stream)
            headers, reply = say("monday", f"I moved to {place} last week.")
            check.expect(f"{what}: a reply", place in reply, reply)
            check.expect(f"{what}: status", headers["x-memory-status"] == "ok", headers)
            settled(check.base)
            headers, _ = say("tuesday", "Where do I live now?")
            check.expect(f"{what}: injected", headers["x-memory-injected"] == "true", headers)
            check.expect(f"{what}: ids", headers["x-memory-ids"], headers)
            check.knows(what, place, user)
            settled(check.base)
    # Requests that name no session or user: the library's own fields, and the default.
    with of_anthropic.messages.stream(
        model="fake-model",
        max_tokens=64,
        messages=[{"role": "user", "content": "I moved to Oslo."}],
        metadata={"user_id": "user_ab_account_cd_session_one"},
    ) as stream:
        check.expect("the stream of Anthropic's library", "Oslo" in stream.get_final_text(), "no reply")
    settled(check.base)
    of_anthropic.messages.create(
        model="fake-model",
        max_tokens=64,
        messages=[{"role": "user", "content": "Where do I live?"}],
        metadata={"user_id": "user_ab_account_cd_session_two"},
    )
    check.knows("metadata.user_id", "Oslo", "user_ab_account_cd")
    embedding = of_openai.embeddings.create(model="fake-model", input="a text")
    check.expect("embeddings", len(embedding.data) == 1, embedding)
    check.expect("models", [model.id for model in of_openai.models.list()] == ["fake-model"], "no model")
    try:
        of_openai.chat.completions.create(model="fake-model", messages=[], extra_headers={"X-Memory-Mode": "maybe"})
        check.expect("a wrong mode", False, "was taken")
    except openai.BadRequestError as error:
        check.expect("an error in OpenAI's shape", "X-Memory-Mode" in error.body["message"], error.body)
    try:
        of_anthropic.messages.create(model="fake-model", max_tokens=1, messages=[], extra_headers={"X-Memory-Mode": "maybe"})
        check.expect("a wrong mode", False, "was taken")
    except anthropic.BadRequestError as error:
        check.expect("an error in Anthropic's shape", "X-Memory-Mode" in error.body["error"]["message"], error.body)


def main():
    quipu, fake_model = sys.argv[1:]
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            model = subprocess.Popen([fake_model], stdout=subprocess.PIPE, text=True)
            processes.append(model)
            origin, received = model.stdout.readline().split()
            settings = {name: value for name, value in os.environ.items() if not name.startswith(("QUIPU_", "OPENAI_", "ANTHROPIC_"))}
            settings |= {
                "HOME": folder,
                "XDG_CONFIG_HOME": folder,
                "OPENAI_BASE_URL": f"{origin}/v1",
                "ANTHROPIC_BASE_URL": origin,
            }
            # A debug build on a busy machine takes longer than a request would wait.
            os.makedirs(f"{folder}/quipu")
            with open(f"{folder}/quipu/config.toml", "w") as config:
                config.write("[serve]\nrecall_ms = 20000\n")
            command = [quipu, "--data-dir", f"{folder}/data", "--json", "serve", "--addr", "127.0.0.1:0"]
            server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings)
            processes.append(server)
            base = "http://" + json.loads(server.stdout.readline())["addr"]
            check = Check(base, received)
            run(check)
            server.send_signal(signal.SIGINT)
            check.expect("an orderly end", server.wait(timeout=PATIENCE) == 0, server.returncode)
            verified = subprocess.run(
                [quipu, "--data-dir", f"{folder}/data", "-u", "chat", "verify"], capture_output=True, text=True, env=settings
            )
            check.expect("an intact ledger", "\nINTACT." in verified.stdout, verified.stdout + verified.stderr)
        finally:
            for process in processes:
                process.kill()
                process.wait()
    print(f"{check.done} checks passed: openai {openai.__version__}, anthropic {anthropic.__version__}")


if __name__ == "__main__":
    main()
