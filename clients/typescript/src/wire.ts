// How a request is sent: again where that does no harm, and read as it is meant.

import { NotReached, QuipuError, Refusal } from "./errors.js";

export interface Options {
  /** Default `http://127.0.0.1:7077`. */
  baseUrl?: string;
  /** `qp_…`; on this machine none is needed. */
  apiKey?: string;
  /** Milliseconds until a request is given up; default 30,000. */
  timeout?: number;
  /** How often a request is sent again; default 3. */
  retries?: number;
  /** Milliseconds a wait before that may take; a server that asks for more is not asked again. Default 30,000. */
  waitMax?: number;
  /** For tests, and for those who need another `fetch`. */
  fetch?: typeof fetch;
}

/** What goes with a write. */
export interface WriteOptions {
  /** The same request with the same key has one effect. One is made if none is given. */
  idempotencyKey?: string;
  /** Only if the memory is at this version. */
  ifVersion?: number;
}

/** What goes with a write that takes no idempotency key. */
export type ConditionalOptions = Pick<WriteOptions, "ifVersion">;

export interface Ask {
  method: string;
  path: string;
  parts?: readonly string[];
  query?: object | undefined;
  body?: object | undefined;
  /** True if it changes nothing. */
  reads?: boolean;
  /** True if the answer need not be JSON. */
  asText?: boolean;
  /** True if it takes an idempotency key. */
  keyed?: boolean;
  options?: WriteOptions;
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export class Wire {
  readonly #options: Required<Omit<Options, "apiKey">>;
  readonly #headers: Record<string, string>;

  constructor(options: Options) {
    this.#options = {
      baseUrl: (options.baseUrl ?? "http://127.0.0.1:7077").replace(/\/+$/, ""),
      timeout: options.timeout ?? 30_000,
      retries: options.retries ?? 3,
      waitMax: options.waitMax ?? 30_000,
      fetch: options.fetch ?? fetch,
    };
    this.#headers = options.apiKey === undefined ? {} : { Authorization: `Bearer ${options.apiKey}` };
  }

  /** The answer to a request, as JSON. */
  async send(ask: Ask): Promise<unknown> {
    const headers: Record<string, string> = { ...this.#headers };
    if (ask.keyed) headers["Idempotency-Key"] = ask.options?.idempotencyKey ?? crypto.randomUUID();
    if (ask.options?.ifVersion !== undefined) headers["If-Match"] = `"${ask.options.ifVersion}"`;
    if (ask.body !== undefined) headers["Content-Type"] = "application/json";
    const init: RequestInit = { method: ask.method, headers, redirect: "error" };
    if (ask.body !== undefined) init.body = JSON.stringify(ask.body);
    const url = this.#url(ask);
    for (let tried = 1; ; tried++) {
      try {
        const signal = AbortSignal.timeout(this.#options.timeout);
        const answer = await this.#fetch(url, { ...init, signal });
        return await within(url, ask.asText === true ? answer.text() : answer.json());
      } catch (problem) {
        const isRepeatable = ask.reads === true || ask.keyed === true;
        const wait = this.#wait(tried, problem, isRepeatable);
        if (wait === undefined) throw problem;
        await sleep(wait);
      }
    }
  }

  /** Server-sent events after a position; a lost connection is taken up again where it was. */
  async *events<Event extends { seq: number }>(ask: Ask, after: number): AsyncGenerator<Event, void, undefined> {
    const url = this.#url(ask);
    for (let tried = 1; ; tried++) {
      const stop = new AbortController();
      let problem: unknown = new NotReached("the server ended the stream of events");
      try {
        const headers = { ...this.#headers, Accept: "text/event-stream", "Last-Event-ID": String(after) };
        const answer = await this.#fetch(url, { headers, redirect: "error", signal: stop.signal });
        for await (const { name, data } of sent(url, answer)) {
          if (name === "error") throw new NotReached(`the stream of events ended: ${JSON.stringify(data)}`);
          const event = data as unknown as Event;
          after = event.seq;
          tried = 0;
          yield event;
        }
      } catch (caught) {
        problem = caught;
      } finally {
        stop.abort();
      }
      const wait = this.#wait(Math.max(tried, 1), problem, true);
      if (wait === undefined) throw problem;
      await sleep(wait);
    }
  }

  #url(ask: Ask): string {
    let at = 0;
    const path = ask.path.replace(/\{\w+\}/g, () => {
      const part = ask.parts?.[at++] ?? "";
      if (["", ".", ".."].includes(part)) throw new QuipuError(`${JSON.stringify(part)} cannot be a part of a path`);
      return encodeURIComponent(part);
    });
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(ask.query ?? {})) {
      if (value !== undefined && value !== null) query.set(name, Array.isArray(value) ? value.join(",") : String(value));
    }
    return `${this.#options.baseUrl}${path}${query.size > 0 ? `?${query}` : ""}`;
  }

  /** A good answer; whatever else is thrown. */
  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const { fetch } = this.#options;
    const answer = await within(url, fetch(url, init));
    if (answer.ok) return answer;
    const after = Number(answer.headers.get("retry-after") ?? Number.NaN);
    const body: unknown = await answer.json().catch(() => undefined);
    throw new Refusal(answer.status, body, Number.isFinite(after) ? after : undefined);
  }

  /** Milliseconds until the next try; none if there is to be none. */
  #wait(tried: number, problem: unknown, isRepeatable: boolean): number | undefined {
    const { retries, waitMax } = this.#options;
    if (tried > retries) return undefined;
    if (problem instanceof Refusal) {
      // What the server did not do may be asked for again, whatever it is.
      if (!problem.retryable) return undefined;
      if (problem.retryAfter !== undefined) {
        const wait = problem.retryAfter * 1000;
        return wait <= waitMax ? wait : undefined;
      }
    } else if (!(problem instanceof NotReached) || !isRepeatable) {
      return undefined;
    }
    return Math.min(250 * 2 ** (tried - 1), waitMax) * (0.5 + Math.random() / 2);
  }
}

/** The same, with what goes wrong on the way told as such. */
async function within<T>(url: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new NotReached(`${url}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Reads a stream of server-sent events. */
async function* sent(url: string, answer: Response): AsyncGenerator<{ name: string; data: Record<string, unknown> }> {
  if (answer.body === null) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  let name = "message";
  let data: string[] = [];
  for (;;) {
    const { done, value } = await within(url, reader.read());
    if (done) return;
    const lines = (held + value).split(/\r?\n/);
    held = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield { name, data: JSON.parse(data.join("\n")) as Record<string, unknown> };
        name = "message";
        data = [];
      } else if (line.startsWith("event:")) {
        name = line.slice(6).trim();
      } else if (line.startsWith("data:")) {
        data.push(line.slice(5).replace(/^ /, ""));
      }
    }
  }
}
