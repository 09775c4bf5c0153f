/**
 * A client for Quipu, a memory for assistants. Each method calls one route of the server's API, with its field names.
 *
 * Requests that are safe to repeat are retried when the server is busy or unreachable. Writes that accept an
 * idempotency key get a generated one by default.
 */

import type { components, paths } from "./api.js";
import { type Ask, type ConditionalOptions, type Freshness, type Options, Wire, type WriteOptions } from "./wire.js";

export type { components, paths } from "./api.js";
export { NotReached, QuipuError, Refusal, type RefusalType } from "./errors.js";
export type { ConditionalOptions, Freshness, Options, WriteOptions } from "./wire.js";

type Verb = "get" | "post" | "patch" | "delete";
type Operation<P extends keyof paths, V extends Verb> = V extends keyof paths[P] ? paths[P][V] : never;
/** The request body of a route. */
export type Body<P extends keyof paths, V extends Verb = "post"> =
  Operation<P, V> extends { requestBody?: infer Sent }
    ? NonNullable<Sent> extends { content: { "application/json": infer Json } }
      ? Json
      : never
    : never;
/** The query parameters of a route. */
export type Query<P extends keyof paths> =
  Operation<P, "get"> extends { parameters: { query?: infer Asked } } ? NonNullable<Asked> : Record<string, never>;
/** The response body of a route. */
export type Answer<P extends keyof paths, V extends Verb> =
  Operation<P, V> extends { responses: { 200: { content: { "application/json": infer Json } } } } ? Json : never;

/** A page of a list. */
export interface Page<Item = unknown> {
  items: Item[];
  total: number;
  next?: string | null;
}

type Sent = Omit<Ask, "method" | "path">;

export class Quipu {
  readonly #options: Options;
  readonly #wire: Wire;

  constructor(options: Options = {}, freshness: Freshness = {}) {
    this.#options = options;
    this.#wire = new Wire(options, freshness);
  }

  /** A client of the same server, for requests about memories that say how current the answer must be. */
  requiring(freshness: Freshness): Quipu {
    return new Quipu(this.#options, freshness);
  }

  async #get<P extends keyof paths>(path: P, sent: Sent = {}): Promise<Answer<P, "get">> {
    return (await this.#wire.send({ ...sent, method: "GET", path, reads: true })) as Answer<P, "get">;
  }

  async #post<P extends keyof paths>(path: P, sent: Sent): Promise<Answer<P, "post">> {
    return (await this.#wire.send({ ...sent, method: "POST", path })) as Answer<P, "post">;
  }

  // Recording.

  /** Records messages, all or none. */
  addTurns(userId: string, body: Body<"/memory/{user_id}/turns">, options: WriteOptions = {}) {
    return this.#post("/memory/{user_id}/turns", { parts: [userId], body, keyed: true, options });
  }

  /** Records messages of a session. */
  addSessionTurns(
    userId: string,
    sessionId: string,
    body: Body<"/memory/{user_id}/sessions/{session_id}/turns">,
    options: WriteOptions = {},
  ) {
    const parts = [userId, sessionId];
    return this.#post("/memory/{user_id}/sessions/{session_id}/turns", { parts, body, keyed: true, options });
  }

  /** Records a journal entry under a topic. */
  addEntry(userId: string, body: Body<"/memory/{user_id}/entries">, options: WriteOptions = {}) {
    return this.#post("/memory/{user_id}/entries", { parts: [userId], body, keyed: true, options });
  }

  /** Writes items. Items the gate does not accept are listed in `rejected`, with the reason. */
  write(body: Body<"/memory/write">, options: WriteOptions = {}) {
    return this.#post("/memory/write", { body, keyed: true, options });
  }

  // Recall and the core document.

  /** Items that answer a question, by tier, best first. */
  retrieve(body: Body<"/memory/retrieve">) {
    return this.#post("/memory/retrieve", { body, reads: true });
  }

  /** The block of memory for a prompt: the pack for a question, or the context of a session. */
  context(userId: string, body: Body<"/memory/{user_id}/context">) {
    return this.#post("/memory/{user_id}/context", { parts: [userId], body, reads: true });
  }

  /** Recreates a pack from its id. */
  pack(userId: string, packId: string) {
    return this.#get("/memory/{user_id}/packs/{pack_id}", { parts: [userId, packId] });
  }

  /** The core document and its version. */
  core(userId: string, query: Query<"/memory/{user_id}"> = {}) {
    return this.#get("/memory/{user_id}", { parts: [userId], query });
  }

  /** Patches the core document on the user's behalf. */
  patchCore(userId: string, body: Body<"/memory/{user_id}/events">, options: WriteOptions = {}) {
    const idempotencyKey = options.idempotencyKey ?? body.id;
    const keyed = idempotencyKey ? { ...options, idempotencyKey } : options;
    return this.#post("/memory/{user_id}/events", { parts: [userId], body, keyed: true, options: keyed });
  }

  /** Episodes, those nearest to the given topics and paths of the core document first. */
  episodes(userId: string, query: Query<"/memory/{user_id}/episodes"> = {}) {
    return this.#get("/memory/{user_id}/episodes", { parts: [userId], query });
  }

  // Lists. `each` iterates over all pages of a list.

  /** Current facts, most important first. */
  facts(userId: string, query: Query<"/memory/{user_id}/facts"> = {}) {
    return this.#get("/memory/{user_id}/facts", { parts: [userId], query });
  }

  /** Open tasks, goals and problems. */
  tasks(userId: string, query: Query<"/memory/{user_id}/tasks"> = {}) {
    return this.#get("/memory/{user_id}/tasks", { parts: [userId], query });
  }

  /** Notes. */
  notes(userId: string, query: Query<"/memory/{user_id}/notes"> = {}) {
    return this.#get("/memory/{user_id}/notes", { parts: [userId], query });
  }

  /** Lines of the self-model. */
  tenets(userId: string, query: Query<"/memory/{user_id}/tenets"> = {}) {
    return this.#get("/memory/{user_id}/tenets", { parts: [userId], query });
  }

  /** Conversations. */
  sessions(userId: string, query: Query<"/memory/{user_id}/sessions"> = {}) {
    return this.#get("/memory/{user_id}/sessions", { parts: [userId], query });
  }

  /** Topic memories, newest first. */
  topics(userId: string, query: Query<"/memory/{user_id}/topics"> = {}) {
    return this.#get("/memory/{user_id}/topics", { parts: [userId], query });
  }

  /** Conflicting values. */
  conflicts(userId: string, query: Query<"/memory/{user_id}/conflicts"> = {}) {
    return this.#get("/memory/{user_id}/conflicts", { parts: [userId], query });
  }

  /** The review queue. */
  review(userId: string, query: Query<"/memory/{user_id}/review"> = {}) {
    return this.#get("/memory/{user_id}/review", { parts: [userId], query });
  }

  /** Iterates over all entries of a list, page by page: `memory.each((query) => memory.facts("ines", query))`. */
  async *each<Item>(of: (query: { after?: string }) => Promise<Page<Item>>): AsyncGenerator<Item, void, undefined> {
    for (let after: string | null | undefined; ; ) {
      const page = await of(after ? { after } : {});
      yield* page.items;
      after = page.next;
      if (!after) return;
    }
  }

  // Sessions and items.

  /** The global memory: active topics and permanent facts. */
  globalMemory(userId: string) {
    return this.#get("/memory/{user_id}/global", { parts: [userId] });
  }

  /** The state of a session: base truth, turn log, raw window and artifacts. */
  session(userId: string, sessionId: string, query: Query<"/memory/{user_id}/sessions/{session_id}"> = {}) {
    return this.#get("/memory/{user_id}/sessions/{session_id}", { parts: [userId, sessionId], query });
  }

  /** An item of any kind. */
  item(userId: string, itemId: string, query: Query<"/memory/{user_id}/items/{item_id}"> = {}) {
    return this.#get("/memory/{user_id}/items/{item_id}", { parts: [userId, itemId], query });
  }

  /** The evidence of an item, and every event about it. */
  why(userId: string, itemId: string) {
    return this.#get("/memory/{user_id}/items/{item_id}/why", { parts: [userId, itemId] });
  }

  /** Pins, rates, scores or rewords an item. */
  async changeItem(
    userId: string,
    itemId: string,
    body: Body<"/memory/{user_id}/items/{item_id}", "patch">,
    options: ConditionalOptions = {},
  ) {
    const path = "/memory/{user_id}/items/{item_id}";
    const answer = await this.#wire.send({ method: "PATCH", path, parts: [userId, itemId], body, options });
    return answer as Answer<typeof path, "patch">;
  }

  /** Ends the validity of a fact at a given time. */
  closeFact(body: Body<"/memory/profile/version">, options: ConditionalOptions = {}) {
    return this.#post("/memory/profile/version", { body, options });
  }

  // History and undo.

  /** A page of events, oldest first. */
  events(userId: string, query: Query<"/memory/{user_id}/events"> = {}) {
    return this.#get("/memory/{user_id}/events", { parts: [userId], query });
  }

  /** Streams the events after a position, then new ones as they are recorded. `break` ends the stream. */
  liveEvents(userId: string, after = 0) {
    const ask: Ask = { method: "GET", path: "/memory/{user_id}/events", parts: [userId] };
    return this.#wire.events<Schemas["LogEntry"]>(ask, after);
  }

  /** Differences between two versions. */
  diff(userId: string, query: Query<"/memory/{user_id}/diff">) {
    return this.#get("/memory/{user_id}/diff", { parts: [userId], query });
  }

  /** Events that changed a path of the core document, or an item. */
  blame(userId: string, query: Query<"/memory/{user_id}/blame">) {
    return this.#get("/memory/{user_id}/blame", { parts: [userId], query });
  }

  /** Verifies the ledger; with a pin (`12:4f0c…`), also that no event up to the pin is missing. */
  verify(userId: string, query: Query<"/memory/{user_id}/verify"> = {}) {
    return this.#get("/memory/{user_id}/verify", { parts: [userId], query });
  }

  /** Reverts events, or previews a revert. */
  revert(userId: string, body: Body<"/memory/{user_id}/revert">, options: ConditionalOptions = {}) {
    return this.#post("/memory/{user_id}/revert", { parts: [userId], body, options });
  }

  /** Replays chosen events into another user's memory. */
  pick(userId: string, body: Body<"/memory/{user_id}/pick">) {
    return this.#post("/memory/{user_id}/pick", { parts: [userId], body });
  }

  /** Copies a memory, up to a version, to a user without one. */
  fork(userId: string, body: Body<"/memory/{user_id}/fork">) {
    return this.#post("/memory/{user_id}/fork", { parts: [userId], body });
  }

  // Review, corrections and deletion.

  /** Decides an entry of the review queue. */
  decide(
    userId: string,
    reviewId: string,
    body: Body<"/memory/{user_id}/review/{review_id}">,
    options: ConditionalOptions = {},
  ) {
    return this.#post("/memory/{user_id}/review/{review_id}", { parts: [userId, reviewId], body, options });
  }

  /** Merges items of one kind. */
  merge(userId: string, body: Body<"/memory/{user_id}/merge">, options: ConditionalOptions = {}) {
    return this.#post("/memory/{user_id}/merge", { parts: [userId], body, options });
  }

  /** Retracts an item; the history keeps it. */
  retract(userId: string, body: Body<"/memory/{user_id}/retract">, options: ConditionalOptions = {}) {
    return this.#post("/memory/{user_id}/retract", { parts: [userId], body, options });
  }

  /** Destroys the payload of items, events or changes everywhere, and returns the receipt. */
  erase(userId: string, body: Body<"/memory/{user_id}/erase">, options: ConditionalOptions = {}) {
    return this.#post("/memory/{user_id}/erase", { parts: [userId], body, options });
  }

  /**
   * Deletes a user's whole memory and returns the receipt. Without `confirm` nothing is deleted: the refusal carries a
   * preview and the token.
   */
  async deleteUser(userId: string, { confirm, ...options }: ConditionalOptions & { confirm?: string } = {}) {
    const path = "/memory/{user_id}";
    return (await this.#wire.send({ method: "DELETE", path, parts: [userId], query: { confirm }, options })) as Answer<typeof path, "delete">;
  }

  // Export and import.

  /** Exports a memory as text. */
  async export(userId: string, query: Query<"/memory/{user_id}/export"> = {}) {
    const ask: Ask = { method: "GET", path: "/memory/{user_id}/export", parts: [userId], query, reads: true, asText: true };
    return (await this.#wire.send(ask)) as string;
  }

  /** Imports a file of another system, as text or as an archive in base64. */
  importFile(userId: string, body: Body<"/memory/{user_id}/import">) {
    return this.#post("/memory/{user_id}/import", { parts: [userId], body });
  }

  // Consolidation.

  /** Promotes a pattern to a category. */
  promote(userId: string, body: Body<"/memory/{user_id}/schema/promote">, options: WriteOptions = {}) {
    return this.#post("/memory/{user_id}/schema/promote", { parts: [userId], body, keyed: true, options });
  }

  /** Folds duplicates, promotes recurring facts and demotes unused items. */
  compact(body: Body<"/memory/compact"> = {}, options: ConditionalOptions = {}) {
    return this.#post("/memory/compact", { body, options });
  }

  // Keys and server status.

  /** Every key, without secrets. */
  keys() {
    return this.#get("/keys");
  }

  /** Creates a key. The secret is returned only once, in this response. */
  createKey(body: Body<"/keys">) {
    return this.#post("/keys", { body });
  }

  /** Revokes a key. */
  async revokeKey(keyId: string) {
    const path = "/keys/{key_id}";
    return (await this.#wire.send({ method: "DELETE", path, parts: [keyId] })) as Answer<typeof path, "delete">;
  }

  /** Readiness: the store responds and the queue of turns has room. Throws a `Refusal` otherwise. */
  ready() {
    return this.#get("/health/ready");
  }

  /** Name and version of the server. */
  version() {
    return this.#get("/version");
  }

  /** The OpenAPI document of the server. */
  async openapi() {
    return (await this.#get("/openapi.json")) as Record<string, unknown>;
  }
}

/** The schemas of the API by name. */
export type Schemas = components["schemas"];
