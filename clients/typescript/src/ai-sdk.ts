/** Middleware for Vercel's AI SDK: gives a language model the memory of a user, and records both sides. Needs `ai`. */

import type { LanguageModelMiddleware } from "ai";
import { QuipuError } from "./errors.js";
import type { Body, Quipu } from "./index.js";

type Params = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0]["params"];
type Prompt = Params["prompt"];
type Messages = Body<"/memory/{user_id}/turns">["messages"];
type Stream = Awaited<ReturnType<NonNullable<LanguageModelMiddleware["wrapStream"]>>>["stream"];
type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never;

export interface QuipuMemoryOptions {
  /** The user whose memory it is. A call may name another: `providerOptions: { quipu: { userId, sessionId } }`. */
  userId?: string;
  /** The session of the conversation, such as the id of the chat. By default messages belong to no session. */
  sessionId?: string;
  /** Size of the memory in the prompt, in tokens. Defaults to that of the server. */
  maxTokens?: number;
  /** Whether the call fails if the server does. By default the error goes to `onError`, and the call goes on without memory. */
  throwErrors?: boolean;
  /** Reports an error of the server. Default: `console.error`. */
  onError?: (error: QuipuError, what: string) => void;
}

/**
 * Adds what the memory has about the user's last message as a system message, and records that message and the answer.
 *
 * Only text is recorded: calls of tools, their results, reasoning and files are left out. In a loop of tool calls the
 * user's message is recorded once, with the first answer of the model. A call that fails or is aborted is not recorded. A message that is sent again is
 * recorded again. The server removes secrets from texts.
 */
export function quipuMemory(memory: Quipu, options: QuipuMemoryOptions): LanguageModelMiddleware {
  const report = options.onError ?? ((error, what) => console.error(`quipu: ${what}: ${error.message}`));

  async function attempt<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof QuipuError) || options.throwErrors) throw error;
      report(error, what);
      return undefined;
    }
  }

  function names(params: Params) {
    const asked = params.providerOptions?.["quipu"];
    const userId = asked?.["userId"] ?? options.userId;
    const sessionId = asked?.["sessionId"] ?? options.sessionId;
    if (typeof userId !== "string") {
      throw new TypeError("no user: set userId, or providerOptions.quipu.userId of the call");
    }
    return { userId, sessionId: typeof sessionId === "string" ? sessionId : undefined };
  }

  async function record(params: Params, answer: string) {
    const { userId, sessionId } = names(params);
    const messages: Messages = [];
    const last = params.prompt.at(-1);
    const said = last?.role === "user" ? textOf(last) : "";
    if (said.trim()) messages.push({ role: "user", content: said });
    if (answer.trim()) messages.push({ role: "assistant", content: answer });
    if (messages.length === 0) return;
    const body = { messages, ...(sessionId === undefined ? {} : { session_id: sessionId }) };
    await attempt("the conversation could not be recorded", () => memory.addTurns(userId, body));
  }

  return {
    specificationVersion: "v4",

    async transformParams({ params }) {
      const { userId } = names(params);
      const asked = params.prompt.filter((message) => message.role === "user").at(-1);
      const query = asked ? textOf(asked) : "";
      if (!query.trim()) return params;
      const body = { query, ...(options.maxTokens === undefined ? {} : { max_tokens: options.maxTokens }) };
      const pack = await attempt("the memory could not be read", () => memory.context(userId, body));
      return pack?.text ? { ...params, prompt: withSystem(params.prompt, pack.text) } : params;
    },

    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      await record(params, result.content.map((part) => (part.type === "text" ? part.text : "")).join(""));
      return result;
    },

    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      let answer = "";
      let failed = false;
      const watched = stream.pipeThrough(
        new TransformStream<StreamPart, StreamPart>({
          transform(part, controller) {
            if (part.type === "text-delta") answer += part.delta;
            failed ||= part.type === "error";
            controller.enqueue(part);
          },
          flush: () => (failed ? undefined : record(params, answer)),
        }),
      );
      return { stream: watched, ...rest };
    },
  };
}

function textOf(message: Prompt[number]): string {
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** The prompt with another system message after those at its beginning. */
function withSystem(prompt: Prompt, content: string): Prompt {
  const first = prompt.findIndex((message) => message.role !== "system");
  const at = first === -1 ? prompt.length : first;
  return [...prompt.slice(0, at), { role: "system", content }, ...prompt.slice(at)];
}
