// A small OpenAI-compatible server for a GGUF file, to try Quipu with a local model. Optional; no build needs it.
//
//   node serve.mjs MODEL.gguf [PORT]        serves POST /v1/chat/completions (plain, streamed, json_schema) and GET /v1/models
import { createServer } from "node:http";
import { getLlama, LlamaChatSession } from "node-llama-cpp";

const [path, port = "8089"] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
const model = await llama.loadModel({ modelPath: path });
const context = await model.createContext({ contextSize: 4096, threads: 1 });
const sequence = context.getSequence();
let last = Promise.resolve(); // one response at a time

async function answer(asked, onTextChunk) {
  const system = asked.messages.filter((m) => m.role === "system").map((m) => m.content).join("\n");
  const said = asked.messages.filter((m) => m.role !== "system");
  await sequence.clearHistory();
  const session = new LlamaChatSession({ contextSequence: sequence, systemPrompt: system });
  const history = session.getChatHistory();
  for (const m of said.slice(0, -1)) {
    history.push(m.role === "user" ? { type: "user", text: m.content } : { type: "model", response: [m.content] });
  }
  session.setChatHistory(history);
  const format = asked.response_format ?? {};
  const grammar =
    format.type === "json_schema" ? await llama.createGrammarForJsonSchema(format.json_schema.schema)
    : format.type === "json_object" ? await llama.getGrammarFor("json") : undefined;
  const { responseText, stopReason } = await session.promptWithMeta(said.at(-1)?.content ?? "", {
    grammar, maxTokens: asked.max_tokens, temperature: asked.temperature ?? 0, onTextChunk,
  });
  const count = (text) => model.tokenize(text).length;
  const prompt = asked.messages.reduce((sum, m) => sum + count(m.content), 0);
  const usage = { prompt_tokens: prompt, completion_tokens: count(responseText), total_tokens: 0 };
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
  session.dispose({ disposeSequence: false });
  return { text: responseText, finish: stopReason === "maxTokens" ? "length" : "stop", usage };
}

createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
    if (request.url !== "/v1/chat/completions") {
      response.setHeader("content-type", "application/json");
      return response.end(JSON.stringify({ object: "list", data: [{ id: "local", object: "model" }] }));
    }
    last = last.then(async () => {
      const asked = JSON.parse(Buffer.concat(chunks));
      const event = (value) => response.write(`data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);
      const part = (delta, finish_reason = null) => ({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
      if (asked.stream) response.setHeader("content-type", "text/event-stream");
      const done = await answer(asked, asked.stream ? (text) => event(part({ content: text })) : undefined);
      if (asked.stream) {
        event(part({}, done.finish));
        event({ object: "chat.completion.chunk", choices: [], usage: done.usage });
        event("[DONE]");
        return response.end();
      }
      const message = { role: "assistant", content: done.text };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "chat.completion", choices: [{ index: 0, message, finish_reason: done.finish }], usage: done.usage }));
    }).catch((error) => {
      if (!response.headersSent) response.statusCode = 500;
      response.end(JSON.stringify({ error: { message: String(error?.message ?? error), type: "server_error" } }));
    });
  });
}).listen(Number(port), "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${port}/v1`));
