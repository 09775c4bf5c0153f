// Tests of retries against a server with scripted failures.

import assert from "node:assert/strict";
import { test } from "node:test";
import { NotReached, Quipu, Refusal } from "../dist/index.js";

const fault = (status, type, retryable, headers = {}) => () =>
  Response.json({ error: { type, code: type, message: type, param: null, request_id: "r", retryable } }, { status, headers });
const busy = (after = "0") => fault(503, "unavailable_error", true, { "Retry-After": after });
const done = () => Response.json({});
const lost = () => {
  throw new TypeError("fetch failed");
};

function failing(...answers) {
  const seen = [];
  const fetch = async (url, init) => {
    seen.push({ url, init });
    return answers[Math.min(seen.length, answers.length) - 1]();
  };
  return { memory: new Quipu({ fetch, retries: 2, waitMax: 1000 }), seen };
}

test("it is sent again where that does no harm", async () => {
  const add = (memory) => memory.addEntry("ines", { topic: "a", text: "b" });
  for (const [call, answers, sent] of [
    [(memory) => memory.erase("ines", { targets: ["1"] }), [busy(), done], 2],
    [(memory) => memory.core("ines"), [busy(), lost, done], 3],
    [add, [lost, done], 2],
    [(memory) => memory.retrieve({ query: "Porto?" }), [lost, done], 2],
  ]) {
    const { memory, seen } = failing(...answers);
    await call(memory);
    assert.equal(seen.length, sent);
    assert.equal(new Set(seen.map(({ init }) => init.headers["Idempotency-Key"])).size, 1, "one key for all attempts");
  }
});

test("it is not sent again where nobody knows what happened, or it is no use", async () => {
  for (const [call, answer, kind, sent] of [
    [(memory) => memory.erase("ines", { targets: ["1"] }), lost, NotReached, 1],
    [(memory) => memory.core("ines"), fault(500, "api_error", false), Refusal, 1],
    [(memory) => memory.core("ines"), () => new Response("<html>", { status: 502 }), Refusal, 1],
    [(memory) => memory.core("ines"), busy("60"), Refusal, 1],
    [(memory) => memory.core("ines"), busy(), Refusal, 3],
    [(memory) => memory.core("ines"), lost, NotReached, 3],
  ]) {
    const { memory, seen } = failing(answer);
    await assert.rejects(call(memory), kind);
    assert.equal(seen.length, sent);
  }
});

test("a stream goes on where it was", async () => {
  const lines = (...seqs) => () => {
    const text = seqs.map((seq) => `id: ${seq}\nevent: event\ndata: {"seq": ${seq}}\n\n`).join("");
    return new Response(`: alive\n\n${text}`, { headers: { "Content-Type": "text/event-stream" } });
  };
  const { memory, seen } = failing(lines(1, 2), lost, lines(3), fault(404, "not_found_error", false));
  const told = [];
  await assert.rejects(async () => {
    for await (const event of memory.liveEvents("ines")) told.push(event.seq);
  }, Refusal);
  assert.deepEqual(told, [1, 2, 3]);
  assert.deepEqual(seen.map(({ init }) => init.headers["Last-Event-ID"]), ["0", "2", "2", "3"]);
});
