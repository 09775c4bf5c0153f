// The middleware for Vercel's AI SDK, with the real `ai`, its mock model, and a real server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { generateText, isStepCount, jsonSchema, simulateReadableStream, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { NotReached, Quipu } from "../dist/index.js";
import { quipuMemory } from "../dist/ai-sdk.js";
import { serve } from "./server.js";

let server;
let memory;
before(async () => {
  server = await serve();
  memory = new Quipu({ baseUrl: server.baseUrl, timeout: 120_000 });
});
after(() => server.stop());

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finish = (unified) => ({ finishReason: { unified, raw: undefined }, usage, warnings: [] });
const text = (answer) => ({ content: [{ type: "text", text: answer }], ...finish("stop") });
const call = (toolName, input) => ({
  content: [{ type: "tool-call", toolCallId: "c1", toolName, input: JSON.stringify(input) }],
  ...finish("tool-calls"),
});
const stream = (...chunks) => ({
  stream: simulateReadableStream({
    chunks: [
      { type: "stream-start", warnings: [] },
      ...chunks,
      { type: "finish", ...finish("stop") },
    ],
  }),
});
const words = (...deltas) => [
  { type: "text-start", id: "1" },
  ...deltas.map((delta) => ({ type: "text-delta", id: "1", delta })),
  { type: "text-end", id: "1" },
];

/** A mock model that gives these answers, and the same with the memory of a user. */
function remembering(doGenerate, options, of = memory) {
  const mock = new MockLanguageModelV4({ doGenerate });
  return { mock, model: wrapLanguageModel({ model: mock, middleware: quipuMemory(of, options) }) };
}

async function told(userId, sessionId) {
  const { raw_window: window } = await memory.session(userId, sessionId);
  return window.map((turn) => [turn.role, turn.text]);
}

test("another session knows what was said, and what was said is in order", async () => {
  const { model } = remembering([text("A fine city."), text("Ana is a fine name.")], { userId: "ai-ines", sessionId: "s1" });
  await generateText({ model, prompt: "I moved to Porto in May." });
  await generateText({ model, prompt: "My sister is called Ana." });
  assert.deepEqual(await told("ai-ines", "s1"), [
    ["user", "I moved to Porto in May."],
    ["assistant", "A fine city."],
    ["user", "My sister is called Ana."],
    ["assistant", "Ana is a fine name."],
  ]);
  const later = new Quipu({ baseUrl: server.baseUrl, timeout: 120_000 });
  const second = remembering([text("In Porto.")], { userId: "ai-ines", sessionId: "s2" }, later);
  const answer = await generateText({ model: second.model, system: "Be brief.", prompt: "Where do I live?" });
  assert.equal(answer.text, "In Porto.");
  const { prompt } = second.mock.doGenerateCalls[0];
  assert.deepEqual(prompt.map((message) => message.role), ["system", "system", "user"]);
  assert.equal(prompt[0].content, "Be brief.");
  assert.match(prompt[1].content, /Porto/);
  // The memory in the prompt is not recorded.
  assert.deepEqual(await told("ai-ines", "s2"), [["user", "Where do I live?"], ["assistant", "In Porto."]]);
  const facts = await memory.facts("ai-ines");
  assert.ok(facts.items.some((fact) => fact.text.includes("Porto")));
});

test("users are apart, and a call can name its user and session", async () => {
  const { mock, model } = remembering([text("Noted."), text("4471."), text("No idea.")], { userId: "ai-nobody" });
  const of = (userId, sessionId) => ({ providerOptions: { quipu: { userId, sessionId } } });
  await generateText({ model, prompt: "The code of my bike lock is 4471.", ...of("ai-a", "s1") });
  await generateText({ model, prompt: "What is the code of my bike lock?", ...of("ai-a", "s2") });
  await generateText({ model, prompt: "What is the code of my bike lock?", ...of("ai-b", "s2") });
  assert.match(JSON.stringify(mock.doGenerateCalls[1].prompt), /4471/);
  assert.doesNotMatch(JSON.stringify(mock.doGenerateCalls[2].prompt), /4471/);
  assert.deepEqual(await told("ai-b", "s2"), [["user", "What is the code of my bike lock?"], ["assistant", "No idea."]]);
  assert.equal((await memory.sessions("ai-nobody")).total, 0);
  const nameless = remembering([text("?")], {});
  await assert.rejects(generateText({ model: nameless.model, prompt: "Hi", maxRetries: 0 }), /no user/);
});

test("in a loop of tool calls both sides are recorded once", async () => {
  const { mock, model } = remembering([call("weather", { city: "Porto" }), text("It rains.")], { userId: "ai-tools", sessionId: "s" });
  const weather = tool({ inputSchema: jsonSchema({ type: "object" }), execute: async () => "rain" });
  const answer = await generateText({ model, tools: { weather }, stopWhen: isStepCount(3), prompt: "Weather in Porto?" });
  assert.equal(answer.text, "It rains.");
  assert.equal(mock.doGenerateCalls.length, 2);
  assert.deepEqual(await told("ai-tools", "s"), [["user", "Weather in Porto?"], ["assistant", "It rains."]]);
});

test("a streamed answer is recorded when it has ended", async () => {
  const mock = new MockLanguageModelV4({ doStream: [stream(...words("In ", "Por", "to."))] });
  const middleware = quipuMemory(memory, { userId: "ai-stream", sessionId: "s" });
  const model = wrapLanguageModel({ model: mock, middleware });
  const content = [
    { type: "text", text: "Where do I live?" },
    { type: "file", mediaType: "image/png", data: new Uint8Array([1]) },
  ];
  const answer = streamText({ model, messages: [{ role: "user", content }] });
  assert.equal(await answer.text, "In Porto.");
  assert.deepEqual(await told("ai-stream", "s"), [["user", "Where do I live?"], ["assistant", "In Porto."]]);
});

test("a call that fails is not recorded", async () => {
  const fails = async () => {
    throw new Error("the model is down");
  };
  const options = { userId: "ai-fails", sessionId: "s" };
  await assert.rejects(generateText({ model: remembering(fails, options).model, prompt: "I live in Oslo.", maxRetries: 0 }));
  const doStream = [stream(...words("In "), { type: "error", error: new Error("lost") })];
  const middleware = quipuMemory(memory, options);
  const model = wrapLanguageModel({ model: new MockLanguageModelV4({ doStream }), middleware });
  const answer = streamText({ model, prompt: "I live in Oslo.", onError: () => {} });
  await answer.consumeStream();
  assert.equal((await memory.sessions("ai-fails")).total, 0);
});

test("a server that is down is reported, and the conversation goes on", async () => {
  const down = new Quipu({ baseUrl: "http://127.0.0.1:1", retries: 0 });
  const reported = [];
  const onError = (error, what) => reported.push([error instanceof NotReached, what]);
  const { mock, model } = remembering([text("Hello.")], { userId: "ines", onError }, down);
  assert.equal((await generateText({ model, prompt: "Hi" })).text, "Hello.");
  assert.equal(mock.doGenerateCalls[0].prompt.length, 1);
  assert.deepEqual(reported, [
    [true, "the memory could not be read"],
    [true, "the conversation could not be recorded"],
  ]);
  const strict = remembering([text("Hello.")], { userId: "ines", throwErrors: true }, down);
  await assert.rejects(generateText({ model: strict.model, prompt: "Hi", maxRetries: 0 }), NotReached);
  const logged = [];
  const log = console.error;
  console.error = (line) => logged.push(line);
  try {
    await generateText({ model: remembering([text("Hello.")], { userId: "ines" }, down).model, prompt: "Hi" });
  } finally {
    console.error = log;
  }
  assert.equal(logged.length, 2);
});
