// Tests against a real server: the quick start, and the responses.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { NotReached, Quipu, QuipuError, Refusal } from "../dist/index.js";
import { NOT_FOR_CALLERS, types } from "../tools/types.js";
import { serve } from "./server.js";

let server;
let memory;

before(async () => {
  server = await serve();
  // A debug build on a busy machine is slow.
  memory = new Quipu({ baseUrl: server.baseUrl, timeout: 120_000 });
});
after(() => server.stop());

const refused = (status, type) => (error) => error instanceof Refusal && error.status === status && error.type === type;

test("the quick start runs as it is written", async () => {
  const text = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const code = /## Quick start\n\n```js\nimport .*\n([^]*?)```/.exec(text)[1];
  const shown = [];
  const console = { log: (...all) => shown.push(JSON.stringify(all)) };
  const own = class extends Quipu {
    constructor() {
      super({ baseUrl: server.baseUrl, timeout: 120_000 });
    }
  };
  const Async = Object.getPrototypeOf(async () => {}).constructor;
  await new Async("Quipu", "console", code)(own, console);
  assert.match(shown.join("\n"), /Porto[^]*lives in Porto/);
  assert.equal((await memory.facts("ines", { predicate: "lives_in" })).total, 0);
});

test("no route lacks a method, and the types are the server's", async () => {
  const page = await memory.openapi();
  const file = readFileSync(new URL("../src/api.ts", import.meta.url), "utf8");
  assert.equal(await types(page), file, "src/api.ts: run `npm run types -- URL`");
  const seen = new Set();
  const answer = () => Response.json({ items: [], next: null });
  const recording = new Quipu({
    fetch: async (url, init) => {
      const path = decodeURIComponent(new URL(url).pathname);
      assert.ok(!seen.has(`${init.method ?? "GET"} ${path}`), `two methods call ${path}`);
      seen.add(`${init.method ?? "GET"} ${path}`);
      return answer();
    },
  });
  const parts = { userId: "{user_id}", sessionId: "{session_id}", itemId: "{item_id}", packId: "{pack_id}", reviewId: "{review_id}", keyId: "{key_id}" };
  for (const name of Object.getOwnPropertyNames(Quipu.prototype)) {
    if (["constructor", "each", "liveEvents", "requiring"].includes(name)) continue;
    const given = /\(([^)]*)\)/.exec(Quipu.prototype[name].toString())[1].split(",").map((one) => one.trim().split(" ")[0]);
    await recording[name](...given.map((argument) => parts[argument] ?? {}));
  }
  const described = new Set();
  for (const [path, verbs] of Object.entries(page.paths)) {
    if (NOT_FOR_CALLERS.test(path)) continue;
    for (const verb of Object.keys(verbs)) described.add(`${verb.toUpperCase()} ${path}`);
  }
  assert.deepEqual([...seen].sort(), [...described].sort());
});

test("what is written is found, and judged", async () => {
  const told = await memory.addSessionTurns("ida", "s1", {
    messages: [
      { role: "user", content: "I live in Oslo.", said_at: "2026-01-05T10:00:00Z" },
      { role: "assistant", content: "Noted." },
    ],
  });
  assert.equal(told.items.length, 2);
  const written = await memory.write({ user_id: "ida", facts: [{ predicate: "lives_in", object: "Rome" }] });
  assert.equal(written.replayed, false);
  const [waiting] = (await memory.review("ida")).items;
  await memory.decide("ida", waiting.id, { action: "decline" });
  const patched = await memory.patchCore("ida", { patch: [{ op: "add", path: "/uncategorized", value: { tea: "green" } }] });
  assert.equal((await memory.core("ida")).version, patched.seq);
  assert.equal((await memory.session("ida", "s1")).session_id, "s1");
  const [fact] = (await memory.facts("ida")).items;
  assert.equal((await memory.changeItem("ida", fact.id, { pinned: true })).receipts.length, 1);
  assert.equal((await memory.verify("ida")).intact, true);
  assert.ok((await memory.erase("ida", { targets: [told.items[0]] })).erased.length > 0);
  const key = await memory.createKey({ name: "phone", scopes: ["read"], user_id: "ida" });
  const reader = new Quipu({ baseUrl: server.baseUrl, apiKey: key.key });
  assert.equal((await reader.core("ida")).user_id, "ida");
  await assert.rejects(reader.core("ines"), refused(403, "permission_error"));
  await memory.revokeKey(key.id);
  await assert.rejects(reader.core("ida"), refused(401, "authentication_error"));
  const announced = await memory.deleteUser("ida").catch((refused) => refused);
  assert.equal(announced.type, "confirmation_required_error");
  assert.ok(announced.preview.events > 0);
  assert.equal((await memory.deleteUser("ida", { confirm: announced.confirm })).user_id, "ida");
});

test("refusals say what is wrong", async () => {
  assert.equal((await memory.core("nobody")).version, 0);
  await assert.rejects(memory.item("nobody", "fact_0000000000000"), refused(404, "not_found_error"));
  await assert.rejects(memory.retrieve({ query: "x", user_id: "nobody", as_of: "someday" }), (error) => error.param === "as_of");
  await memory.addEntry("otto", { topic: "work", text: "one" }, { idempotencyKey: "same" });
  const again = await memory.addEntry("otto", { topic: "work", text: "one" }, { idempotencyKey: "same" });
  assert.equal(again.replayed, true);
  await assert.rejects(
    memory.addEntry("otto", { topic: "work", text: "two" }, { ifVersion: 0 }),
    refused(412, "precondition_failed_error"),
  );
  await assert.rejects(memory.core(".."), QuipuError);
});

test("a request says how current the answer must be", async () => {
  const written = await memory.addEntry("olga", { topic: "work", text: "one" });
  const current = memory.requiring({ minVersion: written.seq, maxStalenessMs: 60_000 });
  assert.ok((await current.core("olga")).version >= written.seq);
  const far = memory.requiring({ minVersion: written.seq + 100 });
  await assert.rejects(far.core("olga"), refused(412, "precondition_failed_error"));
});

test("lists and events are gone through", async () => {
  for (let number = 0; number < 5; number++) {
    await memory.write({ user_id: "lea", actor: "user", reflective: [{ text: `Lesson number ${number} is its own.` }] });
  }
  const notes = [];
  for await (const note of memory.each((page) => memory.notes("lea", { limit: 2, ...page }))) notes.push(note.id);
  assert.equal(new Set(notes).size, 5);
  const seqs = [];
  for await (const event of memory.liveEvents("lea", 2)) {
    seqs.push(event.seq);
    if (seqs.length === 3) break;
  }
  assert.deepEqual(seqs, [3, 4, 5]);
});
