/**
 * A client for Quipu, a memory for assistants. Every method is one route of the server's API, with its fields as they are sent.
 *
 * Requests that may be sent twice without harm are sent again when the server is busy or not reached, and writes that take an
 * idempotency key get one of their own.
 */

import type { components, paths } from "./api.js";
import { type Ask, type ConditionalOptions, type Options, Wire, type WriteOptions } from "./wire.js";

export type { components, paths } from "./api.js";
export { NotReached, QuipuError, Refusal, type RefusalType } from "./errors.js";
export type { ConditionalOptions, Options, WriteOptions } from "./wire.js";

type Verb = "get" | "post" | "patch" | "delete";
type Operation<P extends keyof paths, V extends Verb> = V extends keyof paths[P] ? paths[P][V] : never;
/** What is sent to a route in its body. */
export type Body<P extends keyof paths, V extends Verb = "post"> =
  Operation<P, V> extends { requestBody?: infer Sent }
    ? NonNullable<Sent> extends { content: { "application/json": infer Json } }
      ? Json
      : never
    : never;
/** What is asked of a route in its query. */
export type Query<P extends keyof paths> =
  Operation<P, "get"> extends { parameters: { query?: infer Asked } } ? NonNullable<Asked> : Record<string, never>;
/** What a route answers. */
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
  readonly #wire: Wire;

  constructor(options: Options = {}) {
    this.#wire = new Wire(options);
  }

  async #get<P extends keyof paths>(path: P, sent: Sent = {}): Promise<Answer<P, "get">> {
    return (await this.#wire.send({ ...sent, method: "GET", path, reads: true })) as Answer<P, "get">;
  }

  async #post<P extends keyof paths>(path: P, sent: Sent): Promise<Answer<P, "post">> {
    return (await this.#wire.send({ ...sent, method: "POST", path })) as Answer<P, "post">;
  }

  // What is said.

  /** Records what was said, all of it or nothing. */
  addTurns(userId: string, body: Body<"/memory/{user_id}/turns">, options: WriteOptions = {}) {
    return this.#post("/memory/{user_id}/turns", { parts: [userId], body, keyed: true, options });
  }

  /** Records what was said in a session. */
  addSessionTurns(
    userId: string,
    sessionId: string,
    body: Body<"/memory/{user_id}/sessions/{session_id}/turns">,
    options: WriteOptions = {},
  ) {
    const parts = [userId, sessionId];
    return this.#post("/memory/{user_id}/sessions/{session_id}/turns", { parts, body, keyed: true, options });
  }

  /** Records an entry of a journal, under a topic. */
  addEntry(userId: string, body: Body<"/memory/{user_id}/entries">, options: WriteOptions = {}) {
    return this.#post("/memory/{user_id}/entries", { parts: [userId], body, keyed: true, options });
  }

  /** Hands in ready-made items; what does not pass the gate is in `rejected`, with its reason. */
  write(body: Body<"/memory/write">, options: WriteOptions = {}) {
    return this.#post("/memory/write", { body, keyed: true, options });
  }

  // What is known.

  /** What answers a question, by tier, best first. */
  retrieve(body: Body<"/memory/retrieve">) {
    return this.#post("/memory/retrieve", { body, reads: true });
  }

  /** The block of memory for a prompt: for a question, or for the next reply of a session. */
  context(userId: string, body: Body<"/memory/{user_id}/context">) {
    return this.#post("/memory/{user_id}/context", { parts: [userId], body, reads: true });
  }

  /** A pack, made again from its id. */
  pack(userId: string, packId: string) {
    return this.#get("/memory/{user_id}/packs/{pack_id}", { parts: [userId, packId] });
  }

  /** The core document and its version. */
  core(userId: string, query: Query<"/memory/{user_id}"> = {}) {
    return this.#get("/memory/{user_id}", { parts: [userId], query });
  }

  /** Patches the core document, as its user. */
  patchCore(userId: string, body: Body<"/memory/{user_id}/events">, options: WriteOptions = {}) {
    const idempotencyKey = options.idempotencyKey ?? body.id;
    const keyed = idempotencyKey ? { ...options, idempotencyKey } : options;
    return this.#post("/memory/{user_id}/events", { parts: [userId], body, keyed: true, options: keyed });
  }

  /** Episodes, those nearest to topics and places of the core document first. */
  episodes(userId: string, query: Query<"/memory/{user_id}/episodes"> = {}) {
    return this.#get("/memory/{user_id}/episodes", { parts: [userId], query });
  }

  // Lists. `each` goes through all pages of one.

  /** Facts that hold, the most important first. */
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

  /** What is known topic by topic, the newest first. */
  topics(userId: string, query: Query<"/memory/{user_id}/topics"> = {}) {
    return this.#get("/memory/{user_id}/topics", { parts: [userId], query });
  }

  /** Values that cannot both hold. */
  conflicts(userId: string, query: Query<"/memory/{user_id}/conflicts"> = {}) {
    return this.#get("/memory/{user_id}/conflicts", { parts: [userId], query });
  }

  /** What waits for a person. */
  review(userId: string, query: Query<"/memory/{user_id}/review"> = {}) {
    return this.#get("/memory/{user_id}/review", { parts: [userId], query });
  }

  /** Every entry of a list, page by page: `memory.each((query) => memory.facts("ines", query))`. */
  async *each<Item>(of: (query: { after?: string }) => Promise<Page<Item>>): AsyncGenerator<Item, void, undefined> {
    for (let after: string | null | undefined; ; ) {
      const page = await of(after ? { after } : {});
      yield* page.items;
      after = page.next;
      if (!after) return;
    }
  }

  // Single things.

  /** What is known in all: active topics, and what is not to be forgotten. */
  globalMemory(userId: string) {
    return this.#get("/memory/{user_id}/global", { parts: [userId] });
  }

  /** What a session knows of itself: base truth, turn log, raw window, artifacts. */
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

  /** Pins, rates or scores an item, or says it in other words. */
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

  /** Says until when a fact held. */
  closeFact(body: Body<"/memory/profile/version">, options: ConditionalOptions = {}) {
    return this.#post("/memory/profile/version", { body, options });
  }

  // What happened, and how it is taken back.

  /** A page of events, oldest first. */
  events(userId: string, query: Query<"/memory/{user_id}/events"> = {}) {
    return this.#get("/memory/{user_id}/events", { parts: [userId], query });
  }

  /** Every event after a position, and then each as it comes; nothing is told twice. `break` ends it. */
  liveEvents(userId: string, after = 0) {
    const ask: Ask = { method: "GET", path: "/memory/{user_id}/events", parts: [userId] };
    return this.#wire.events<Schemas["LogEntry"]>(ask, after);
  }

  /** What differs between two versions. */
  diff(userId: string, query: Query<"/memory/{user_id}/diff">) {
    return this.#get("/memory/{user_id}/diff", { parts: [userId], query });
  }

  /** Who changed a place of the core document, or an item. */
  blame(userId: string, query: Query<"/memory/{user_id}/blame">) {
    return this.#get("/memory/{user_id}/blame", { parts: [userId], query });
  }

  /** Whether the ledger is what was written; with a pin (`12:4f0c…`), also whether it is whole. */
  verify(userId: string, query: Query<"/memory/{user_id}/verify"> = {}) {
    return this.#get("/memory/{user_id}/verify", { parts: [userId], query });
  }

  /** Takes events back, or shows what that would do. */
  revert(userId: string, body: Body<"/memory/{user_id}/revert">, options: ConditionalOptions = {}) {
    return this.#post("/memory/{user_id}/revert", { parts: [userId], body, options });
  }

  /** Replays chosen events into another user's memory. */
  pick(userId: string, body: Body<"/memory/{user_id}/pick">) {
    return this.#post("/memory/{user_id}/pick", { parts: [userId], body });
  }

  /** Copies a memory, up to a version, to a user that has none. */
  fork(userId: string, body: Body<"/memory/{user_id}/fork">) {
    return this.#post("/memory/{user_id}/fork", { parts: [userId], body });
  }

  // What people decide.

  /** Decides on something that waits. */
  decide(
    userId: string,
    reviewId: string,
    body: Body<"/memory/{user_id}/review/{review_id}">,
    options: ConditionalOptions = {},
  ) {
    return this.#post("/memory/{user_id}/review/{review_id}", { parts: [userId, reviewId], body, options });
  }

  /** Makes items of one kind one. */
  merge(userId: string, body: Body<"/memory/{user_id}/merge">, options: ConditionalOptions = {}) {
    return this.#post("/memory/{user_id}/merge", { parts: [userId], body, options });
  }

  /** Takes an item back; the history keeps it. */
  retract(userId: string, body: Body<"/memory/{user_id}/retract">, options: ConditionalOptions = {}) {
    return this.#post("/memory/{user_id}/retract", { parts: [userId], body, options });
  }

  /** Destroys the payload of items, events or changes, everywhere; the answer is the receipt. */
  erase(userId: string, body: Body<"/memory/{user_id}/erase">, options: ConditionalOptions = {}) {
    return this.#post("/memory/{user_id}/erase", { parts: [userId], body, options });
  }

  /** Deletes a user's memory whole; the answer is the receipt. Without `confirm` nothing is deleted: the refusal holds a preview and the token. */
  async deleteUser(userId: string, { confirm, ...options }: ConditionalOptions & { confirm?: string } = {}) {
    const path = "/memory/{user_id}";
    return (await this.#wire.send({ method: "DELETE", path, parts: [userId], query: { confirm }, options })) as Answer<typeof path, "delete">;
  }

  // Handing a memory on.

  /** Everything, in a shape others read: a text to be written to a file. */
  async export(userId: string, query: Query<"/memory/{user_id}/export"> = {}) {
    const ask: Ask = { method: "GET", path: "/memory/{user_id}/export", parts: [userId], query, reads: true, asText: true };
    return (await this.#wire.send(ask)) as string;
  }

  /** Takes up what another system wrote: its text, or an archive in base64. */
  importFile(userId: string, body: Body<"/memory/{user_id}/import">) {
    return this.#post("/memory/{user_id}/import", { parts: [userId], body });
  }

  // How a memory grows.

  /** Makes a category of what recurs. */
  promote(userId: string, body: Body<"/memory/{user_id}/schema/promote">, options: WriteOptions = {}) {
    return this.#post("/memory/{user_id}/schema/promote", { parts: [userId], body, keyed: true, options });
  }

  /** Folds what says the same, and puts what is cold aside. */
  compact(body: Body<"/memory/compact"> = {}, options: ConditionalOptions = {}) {
    return this.#post("/memory/compact", { body, options });
  }

  // Keys, and the server itself.

  /** Every key, without secrets. */
  keys() {
    return this.#get("/keys");
  }

  /** Makes a key; its secret is in this answer and nowhere else. */
  createKey(body: Body<"/keys">) {
    return this.#post("/keys", { body });
  }

  /** Takes a key back. */
  async revokeKey(keyId: string) {
    const path = "/keys/{key_id}";
    return (await this.#wire.send({ method: "DELETE", path, parts: [keyId] })) as Answer<typeof path, "delete">;
  }

  /** Whether the store answers and turns find room; refused if not. */
  ready() {
    return this.#get("/health/ready");
  }

  /** What the server is. */
  version() {
    return this.#get("/version");
  }

  /** The description of every route. */
  async openapi() {
    return (await this.#get("/openapi.json")) as Record<string, unknown>;
  }
}

/** The shapes of the API by name. */
export type Schemas = components["schemas"];
