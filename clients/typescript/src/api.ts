// The types of the API. Made by `tools/types.js` of what the server says: change nothing here.

export interface paths {
    "/health/ready": {
        parameters: {
        };
        /** Ready if the store answers and turns find room */
        get: {
            parameters: {
            };
            responses: {
                200: {
                    content: {
                        "application/json": unknown;
                    };
                };
            };
        };
    };
    "/keys": {
        parameters: {
        };
        /** Every key, without secrets */
        get: {
            parameters: {
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Listed"];
                    };
                };
            };
        };
        /** Makes a key; its secret is told once */
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Wanted"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/keys/{key_id}": {
        parameters: {
        };
        /** Takes a key back */
        delete: {
            parameters: {
                path: {
                    key_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/compact": {
        parameters: {
        };
        /** Folds what says the same, and puts what is cold aside */
        post: {
            parameters: {
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Compact"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/profile/version": {
        parameters: {
        };
        /** Closes a fact: it held until then */
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Close"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/retrieve": {
        parameters: {
        };
        /** What answers a question, by tier */
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Retrieve"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Retrieved"];
                    };
                };
            };
        };
    };
    "/memory/write": {
        parameters: {
        };
        /** Ready-made items, through the same gate as everything else */
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Write"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Written"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}": {
        parameters: {
        };
        /** The core document and its version */
        get: {
            parameters: {
                query?: {
                    at?: string | "now" | unknown | unknown | unknown;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Core"];
                    };
                };
            };
        };
        /** Deletes a user's memory whole, once it is confirmed */
        delete: {
            parameters: {
                query?: {
                    confirm?: string;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/blame": {
        parameters: {
        };
        /** Who changed a place of the core document, or an item */
        get: {
            parameters: {
                query: {
                    path: string | unknown;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Blamed"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/conflicts": {
        parameters: {
        };
        /** Values that cannot both hold */
        get: {
            parameters: {
                query?: {
                    after?: string;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Page7"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/context": {
        parameters: {
        };
        /** The pack for a question, or the context of a session */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Asked"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Context"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/diff": {
        parameters: {
        };
        /** What differs between two versions */
        get: {
            parameters: {
                query: {
                    from: string | "now" | unknown | unknown | unknown;
                    to?: string | "now" | unknown | unknown | unknown;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/entries": {
        parameters: {
        };
        /** Records an entry under a topic */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Entry"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Recorded"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/episodes": {
        parameters: {
        };
        /** Episodes, those nearest to topics and paths first */
        get: {
            parameters: {
                query?: {
                    at?: string | "now" | unknown | unknown | unknown;
                    k?: number;
                    paths?: string;
                    topics?: string;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Episodes"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/erase": {
        parameters: {
        };
        /** Destroys the payload of items, everywhere */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Erase"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/events": {
        parameters: {
        };
        /** Events, oldest first; with `Accept: text/event-stream`, each as it comes */
        get: {
            parameters: {
                query?: {
                    after?: number;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Events"];
                        "text/event-stream": string;
                    };
                };
            };
        };
        /** Patches the core document (RFC 6902) */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["MemoryEvent"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/export": {
        parameters: {
        };
        /** Everything, in a shape others read */
        get: {
            parameters: {
                query?: {
                    format?: components["schemas"]["ShapeIn"];
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": unknown;
                        "application/jsonl": string;
                        "text/markdown": string;
                    };
                };
            };
        };
    };
    "/memory/{user_id}/facts": {
        parameters: {
        };
        /** Facts that hold, the most important first */
        get: {
            parameters: {
                query?: {
                    after?: string;
                    all?: boolean;
                    at?: string | "now" | unknown | unknown | unknown;
                    limit?: number;
                    predicate?: string;
                    subject?: string;
                    valid_at?: string;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/fork": {
        parameters: {
        };
        /** Copies a memory up to a version */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Fork"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/global": {
        parameters: {
        };
        /** What is known in all: active topics, and what is not to be forgotten */
        get: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/import": {
        parameters: {
        };
        /** Takes up what another system wrote */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Imported"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/items/{item_id}": {
        parameters: {
        };
        /** An item of any kind */
        get: {
            parameters: {
                query?: {
                    at?: string | "now" | unknown | unknown | unknown;
                };
                path: {
                    user_id: string;
                    item_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        /** Pins, rates, scores or rewords an item */
        patch: {
            parameters: {
                path: {
                    user_id: string;
                    item_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ItemChange"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Changed"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/items/{item_id}/why": {
        parameters: {
        };
        /** Its evidence, and every event about it */
        get: {
            parameters: {
                path: {
                    user_id: string;
                    item_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/merge": {
        parameters: {
        };
        /** Makes items of one kind one */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Merge"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/notes": {
        parameters: {
        };
        /** Notes */
        get: {
            parameters: {
                query?: {
                    after?: string;
                    at?: string | "now" | unknown | unknown | unknown;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Page3"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/packs/{pack_id}": {
        parameters: {
        };
        /** A pack, made again from its id */
        get: {
            parameters: {
                path: {
                    user_id: string;
                    pack_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/pick": {
        parameters: {
        };
        /** Replays chosen events into another memory */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Pick"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/retract": {
        parameters: {
        };
        /** Takes an item back; the history keeps it */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Retract"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/revert": {
        parameters: {
        };
        /** Takes events back, or shows what that would do */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Revert"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Reverted"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/review": {
        parameters: {
        };
        /** What waits for a person */
        get: {
            parameters: {
                query?: {
                    after?: string;
                    decided?: boolean;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Page8"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/review/{review_id}": {
        parameters: {
        };
        /** Decides on something that waits */
        post: {
            parameters: {
                path: {
                    user_id: string;
                    review_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Decide"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/schema/promote": {
        parameters: {
        };
        /** Makes a category of what recurs */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Promote"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/sessions": {
        parameters: {
        };
        /** Conversations */
        get: {
            parameters: {
                query?: {
                    after?: string;
                    at?: string | "now" | unknown | unknown | unknown;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Page5"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/sessions/{session_id}": {
        parameters: {
        };
        /** What a session knows of itself */
        get: {
            parameters: {
                query?: {
                    at?: string | "now" | unknown | unknown | unknown;
                };
                path: {
                    user_id: string;
                    session_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
    };
    "/memory/{user_id}/sessions/{session_id}/turns": {
        parameters: {
        };
        /** Records what was said in a session */
        post: {
            parameters: {
                path: {
                    user_id: string;
                    session_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SessionTurns"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Recorded"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/tasks": {
        parameters: {
        };
        /** Open tasks, goals and problems */
        get: {
            parameters: {
                query?: {
                    after?: string;
                    all?: boolean;
                    at?: string | "now" | unknown | unknown | unknown;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Page2"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/tenets": {
        parameters: {
        };
        /** Lines of the self-model */
        get: {
            parameters: {
                query?: {
                    after?: string;
                    all?: boolean;
                    at?: string | "now" | unknown | unknown | unknown;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Page4"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/topics": {
        parameters: {
        };
        /** What is known topic by topic, the newest first */
        get: {
            parameters: {
                query?: {
                    after?: string;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Page6"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/turns": {
        parameters: {
        };
        /** Records what was said, all of it or nothing */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Turns"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Recorded"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/verify": {
        parameters: {
        };
        /** Whether the ledger is what was written */
        get: {
            parameters: {
                query?: {
                    pin?: string;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Verified"];
                    };
                };
            };
        };
    };
    "/openapi.json": {
        parameters: {
        };
        /** This page */
        get: {
            parameters: {
            };
            responses: {
                200: {
                    content: {
                        "application/json": unknown;
                    };
                };
            };
        };
    };
    "/version": {
        parameters: {
        };
        /** What this is */
        get: {
            parameters: {
            };
            responses: {
                200: {
                    content: {
                        "application/json": unknown;
                    };
                };
            };
        };
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description What is decided.
         * @enum {string}
         */
        Action: "approve" | "edit" | "decline" | "undo";
        /**
         * @description Who does something.
         * @enum {string}
         */
        ActorIn: "user" | "agent" | "system" | "tool";
        /** @description What is added. */
        Add: {
            agent_id?: string | null;
            app_id?: string | null;
            /** @description The last day it is shown. */
            expiration_date?: string | null;
            /** @description Names may stand here too. */
            filters?: {
                [key: string]: unknown;
            } | null;
            /** @description True if it may not be changed. */
            immutable?: boolean | null;
            /** @description False keeps each message as it is and reads nothing out of it. */
            infer?: boolean | null;
            messages: components["schemas"]["Messages"];
            /** @description Goes with what comes of it. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            run_id?: string | null;
            /**
             * Format: int64
             * @description When it was said, in seconds since 1970.
             */
            timestamp?: number | null;
            user_id?: string | null;
        } & {
            [key: string]: unknown;
        };
        /** @description What became of it. */
        Added: {
            event_id: string;
            /** @description What was asked and is not done here. */
            ignored?: string[];
            /** @description What could not be done yet. */
            lag?: string | null;
            message: string;
            results: components["schemas"]["Made"][];
            status: string;
        };
        /** @description What to pack. */
        Asked: {
            /** @description What was known then: a version, a time or a date. */
            as_of?: (string | "now" | unknown | unknown | unknown) | null;
            /**
             * @description Ask the reader to cite the lines it uses. Not for the context of a session.
             * @default false
             */
            cite?: boolean;
            /**
             * @description Put whole ids before the lines, in the place of numbers. Not for the context of a session.
             * @default false
             */
            ids?: boolean;
            /**
             * @description What it is for: `plan`, `reflect`, `recall`, `decide` or `nudge`.
             * @enum {string|null}
             */
            intent?: "plan" | "reflect" | "recall" | "decide" | "nudge" | null;
            /**
             * Format: uint
             * @description The most it may cost, in tokens.
             */
            max_tokens?: number | null;
            /** @description A conversation; its last message of the user's is then the question. */
            messages?: components["schemas"]["Message2"][] | null;
            /**
             * Format: date-time
             * @description What "last week" is counted from.
             */
            now?: string | null;
            /** @description The question or task. */
            query?: string | null;
            /** @description The context of this session: base truth, turn log, what is recalled, and the last turns. */
            session_id?: string | null;
            /**
             * @description Count tokens by this tokenizer.
             * @enum {string|null}
             */
            tokenizer?: "o200k_base" | "cl100k_base" | "estimate" | null;
        } | {
            query: string;
        } | {
            messages: unknown[];
        } | {
            session_id: string;
        };
        /** @description The tool's input, as the model gave it, and whose files. */
        Asked2: {
            command: components["schemas"]["Word"];
            file_text?: string | null;
            /** Format: int64 */
            insert_line?: number | null;
            insert_text?: string | null;
            new_path?: string | null;
            new_str?: string | null;
            old_path?: string | null;
            old_str?: string | null;
            path?: string | null;
            /** @description Whose memory; the key's user, or the server's, if it is not said. */
            user_id?: string | null;
            /** @description First and last line; -1 is the end. */
            view_range?: [
                number,
                number
            ] | null;
        };
        /** @description Which version. */
        At: {
            /** @description A version: `now`, a position, a time or a date. */
            at?: (string | "now" | unknown | unknown | unknown) | null;
        };
        /** @description Something that was tried. */
        Attempt: {
            /** @description What. */
            approach: string;
            /** @description When; now, if nothing is said. */
            date?: (string) | null;
            /**
             * @description What came of it.
             * @default
             */
            outcome?: string;
            /** @description Whether it helped. */
            successful?: boolean | null;
        };
        /** @description Of what. */
        BlameAsked: {
            /** @description A pointer into the core document, or an item's id. */
            path: string | unknown;
        };
        /** @description How it came to be what it is. */
        Blamed: {
            items: {
                [key: string]: unknown;
            }[];
            /**
             * @deprecated
             * @description The same, by the name they had before. Use `items`.
             */
            steps: {
                [key: string]: unknown;
            }[];
        };
        /** @description What changes about a memory. */
        Change: {
            /**
             * @description The last day it is shown; null, for ever.
             * @default null
             */
            expiration_date?: string | null;
            /** @description Takes the place of what stood under the same names. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description What it says. */
            text?: string | null;
        } & {
            [key: string]: unknown;
        };
        /** @description What was recorded of it. */
        Changed: {
            receipts: {
                [key: string]: unknown;
            }[];
        };
        /** @description The end of a fact. */
        Close: {
            fact_id: string;
            /** @description Whose memory; the key's user, or the server's, if it is not said. */
            user_id?: string | null;
            /**
             * Format: date-time
             * @description Until when it held.
             */
            valid_to: string;
        };
        /** @description Whose memory is compacted. */
        Compact: {
            /**
             * @description Only show what it would do.
             * @default false
             */
            dry_run?: boolean;
            /** @description Whose memory; the key's user, or the server's, if it is not said. */
            user_id?: string | null;
        };
        /** @description Which conflicts. */
        ConflictsAsked: {
            /** @description Only those after this one. */
            after?: string | null;
            limit?: number | null;
        };
        /** @description What was packed. */
        Context: components["schemas"]["PackShown"] | {
            [key: string]: unknown;
        };
        /** @description A document at a version. */
        Core: {
            document: unknown;
            user_id: string;
            /**
             * Format: uint64
             * @description The position of the newest event it was made of.
             */
            version: number;
        };
        /** @description What it says. */
        Data: {
            memory: string;
        };
        /** @description How it was found. */
        Debug: {
            left_out: {
                [key: string]: unknown;
            }[];
            scores: components["schemas"]["Score"][];
            /** Trace */
            trace?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description A decision. */
        Decide: {
            action: components["schemas"]["Action"];
            /** @description Why. */
            rationale?: string | null;
            /** @description With `edit`: the value, or the line, that is right. */
            text?: string | null;
        } & ({
            /** @constant */
            action?: "edit";
            text: string;
        } | {
            /** @enum {unknown} */
            action?: "approve" | "decline" | "undo";
            text?: null;
        });
        /** @description What is taken away. */
        Delete: {
            key: string;
            namespace: string[];
            /** @description Whose memory; the key's user, or the server's, if it is not said. */
            user_id?: string | null;
        };
        /** @description Whether it is meant. */
        DeleteAsked: {
            /** @description The token that the announcement holds: without it nothing is deleted, and the refusal announces what would be. */
            confirm?: string | null;
        };
        /** @description What goes with a deletion. */
        DeleteAsked2: {
            /** @description What a memory took the place of counts no longer anyway: nothing of it comes back. */
            delete_linked?: string | null;
        };
        /** @description Proof of it. */
        Deleted: {
            /** UserErasure */
            erasure: {
                [key: string]: unknown;
            };
            message: string;
        };
        /** @description Which versions. */
        DiffAsked: {
            /** @description The earlier version: a position, a time or a date. */
            from: string | "now" | unknown | unknown | unknown;
            /** @description The later one; now, if it is not said. */
            to?: (string | "now" | unknown | unknown | unknown) | null;
        };
        /** @description What was done. */
        Done: {
            message: string;
        };
        /** @description What was done. */
        Done2: {
            message: string;
        };
        /** @description What was done. */
        Done3: {
            /** @description What was asked and is not done here. */
            ignored?: string[];
        };
        /** @description A page of them. */
        Entities: {
            /** Format: uint */
            count: number;
            next?: string | null;
            previous?: string | null;
            results: components["schemas"]["Entity"][];
            /** Format: uint */
            total_users: number;
        };
        /** @description Which page. */
        EntitiesAsked: {
            /** Format: uint */
            page?: number | null;
        };
        /** @description Whoever has a memory of their own. */
        Entity: {
            created_at?: string | null;
            id: string;
            name: string;
            /** Format: uint */
            total_memories: number;
            type: string;
            updated_at?: string | null;
        };
        /** @description An entry of a journal. */
        Entry: {
            /**
             * Format: date-time
             * @description When it was written; now, if it is not said.
             */
            said_at?: string | null;
            text: string;
            topic: string;
            /** @description Until what the answer waits: `durable`, `indexed` or `extracted`. */
            wait?: components["schemas"]["Wait"];
        };
        /** @description Episodes, best first. */
        Episodes: {
            /**
             * @deprecated
             * @description The same, by the name they had before. Use `items`.
             */
            episodes: components["schemas"]["Scored"][];
            items: components["schemas"]["Scored"][];
        };
        /** @description Which episodes. */
        EpisodesAsked: {
            /** @description A version: `now`, a position, a time or a date. */
            at?: (string | "now" | unknown | unknown | unknown) | null;
            /** @description How many; 5 unless asked otherwise. */
            k?: number | null;
            /** @description Pointers into the core document, a comma between two. */
            paths?: string | null;
            /** @description Topics, a comma between two. */
            topics?: string | null;
        };
        /** @description What is destroyed. */
        Erase: {
            /** @description For more than 100 changes: the token of the announcement. */
            confirm?: string | null;
            /** @description Why, in words that do not repeat what is erased: they stay. */
            reason?: string | null;
            /** @description Items, events (`12`) and single changes (`12.0`). */
            targets: (string | unknown)[];
        };
        /** @description What came of adding. */
        Event: {
            created_at?: string | null;
            event_type: string;
            id: string;
            results: components["schemas"]["Made"][];
            status: string;
        };
        /** @description A page of events. */
        Events: {
            /**
             * @deprecated
             * @description The same, by the name they had before. Use `items`.
             */
            events: {
                [key: string]: unknown;
            }[];
            items: {
                [key: string]: unknown;
            }[];
            /**
             * Format: uint64
             * @description What to give as `after` for the next page; none if this is the last one so far.
             */
            next?: number | null;
            /**
             * Format: uint64
             * @description How many there are on all pages.
             */
            total: number;
        };
        /** @description Which events. */
        EventsAsked: {
            /** @description Only those after this position; from the first, if it is not said. */
            after?: number | null;
            limit?: number | null;
        };
        /** @description What is handed on. */
        ExportAsked: {
            /** @description `json` (usual), `markdown`, `mem0` or `bundle`. */
            format?: components["schemas"]["ShapeIn"];
        };
        /** @description A claim; `s`, `p` and `o` stand for subject, predicate and object. */
        FactIn: {
            /** @description How sure, 0 to 1. */
            confidence_base?: number | null;
            /** @description The broad field; that of the relation, if nothing is said. */
            domain?: string | null;
            /** @description Connections with items that are there. */
            links?: components["schemas"]["Link"][];
            /** @description The value. */
            object: string;
            /** @description The relation. */
            predicate: string;
            /**
             * @description What was said besides.
             * @default {}
             */
            qualifiers?: {
                [key: string]: string;
            };
            /** @description Whom it is about; the user, if nothing is said. */
            subject?: string | null;
            /**
             * @description Free words.
             * @default []
             */
            tags?: string[];
            /** @description The claim as a sentence. */
            text?: string | null;
            /** @description The narrow field. */
            topic?: string | null;
            /** @description Since when it holds. */
            valid_from?: (string) | null;
            /** @description Until when it held. */
            valid_to?: (string) | null;
        };
        /** @description Which facts. */
        FactsAsked: {
            /** @description Only those after this one. */
            after?: string | null;
            /**
             * @description Also what holds no longer, never held, waits or was taken back.
             * @default false
             */
            all?: boolean;
            /** @description What was known then: a version, a time or a date. */
            at?: (string | "now" | unknown | unknown | unknown) | null;
            limit?: number | null;
            predicate?: string | null;
            subject?: string | null;
            /**
             * Format: date-time
             * @description What held then.
             */
            valid_at?: string | null;
        };
        Fault: {
            detail: string;
            error: {
                code: string;
                confirm?: string;
                message: string;
                param: string | null;
                preview?: {
                    [key: string]: unknown;
                };
                request_id: string | null;
                retryable: boolean;
                type: string;
            };
        };
        /** @description What somebody thinks of a memory. */
        Feedback: {
            /** @description `POSITIVE`, `NEGATIVE` or `VERY_NEGATIVE`; null takes it back. */
            feedback?: string | null;
            feedback_reason?: string | null;
            memory_id: string;
        };
        /** @description Where to, and up to what. */
        Fork: {
            /** @description The last version that is shared: a position, a time or a date. */
            at?: (string | "now" | unknown | unknown | unknown) | null;
            /** @description A user that has no memory yet. */
            into: string;
        };
        /** @description What was found, best first. */
        Found: {
            /** @description What was asked and is not done here. */
            ignored?: string[];
            results: {
                [key: string]: unknown;
            }[];
        };
        /** @description What was found. */
        Found2: {
            items: components["schemas"]["Item"][];
        };
        /** @description Which value. */
        GetAsked: {
            key: string;
            /** @description Labels, a period between two. */
            namespace?: string | null;
            /** @description Nothing here ends by itself. */
            refresh_ttl?: boolean | null;
            /** @description Whose memory; the key's user, or the server's, if it is not said. */
            user_id?: string | null;
        };
        /** @description Something that happened to a memory. */
        Happened: {
            created_at: string;
            event: string;
            id: string;
            input: unknown[];
            memory_id: string;
            new_memory?: string | null;
            old_memory?: string | null;
            updated_at: string;
            user_id: string;
        };
        /** @description The entities a request names. */
        Ids: {
            agent_id?: string | null;
            app_id?: string | null;
            run_id?: string | null;
            user_id?: string | null;
        };
        /** @description A file another system wrote. */
        Import: {
            /** @description The file in base64, if it is an archive. */
            base64?: string | null;
            /** @description Only this conversation of it. */
            conversation?: string | null;
            /** @description Whether dates begin with the day or the month. */
            date_order?: components["schemas"]["OrderIn"] | null;
            /**
             * @description Only say what it would do.
             * @default false
             */
            dry_run?: boolean;
            /**
             * @description `chatgpt`, `claude`, `openai`, `mem0`, `memory-jsonl`, `whatsapp`, `telegram`, `markdown`, `text`, `locomo`, `longmemeval`;
             *     `bundle` makes a new memory of a whole ledger.
             */
            format: string;
            /**
             * @description What people say in it are the user's own words: they may say who the user is.
             * @default false
             */
            mine?: boolean;
            /** @description What the file is called; it names the import, and conversations that have no name. */
            name?: string | null;
            /** @description The file, if it is text. */
            text?: string | null;
            /** @description Where the clock stood that local times were read from: `Europe/Lisbon`, `+02:00`. */
            timezone?: string | null;
            /**
             * @description Keep the words and read nothing out of them.
             * @default false
             */
            words_only?: boolean;
        };
        /** @description What was taken up. */
        Imported: {
            [key: string]: unknown;
        } | {
            public_key: string;
            /** RestoredFolder */
            restored: {
                [key: string]: unknown;
            };
        };
        /** @description A value and where it is. */
        Item: {
            created_at?: string | null;
            key: string;
            namespace: string[];
            /**
             * Format: float
             * @description How well it answers the question, if there was one.
             */
            score?: number | null;
            updated_at?: string | null;
            value: {
                [key: string]: unknown;
            };
        };
        /** @description What a person says of an item. */
        ItemChange: {
            /** @description Keep it in view, or no longer. */
            pinned?: boolean | null;
            /**
             * Format: int8
             * @description From -2 to 2; 0 takes a rating back.
             */
            rating?: number | null;
            /** @description What it says, in the user's own words. What it said before stays in the history. */
            text?: string | null;
            /**
             * Format: uint8
             * @description Of a fact: from 0 to 10, the user's own.
             */
            user_fact_score?: number | null;
        } | {
            pinned: unknown;
        } | {
            rating: unknown;
        } | {
            user_fact_score: unknown;
        };
        /** @description A connection with another item. */
        Link: {
            /** @description What connects them: `impacts`, `about`, `same_as`. */
            rel: string;
            /** @description The other item. */
            to: string;
        };
        /** @description Which memories. */
        List: {
            agent_id?: string | null;
            app_id?: string | null;
            categories?: string[] | null;
            /** @description Only those up to this day or time. */
            end_date?: string | null;
            fields?: string[] | null;
            filters?: unknown;
            /** Format: uint */
            page?: number | null;
            /** Format: uint */
            page_size?: number | null;
            run_id?: string | null;
            /** @description Also what its sender wanted shown until a day that is over. */
            show_expired?: boolean | null;
            /** @description Only those from this day or time on. */
            start_date?: string | null;
            user_id?: string | null;
        } & {
            [key: string]: unknown;
        };
        /** @description Which entries of a list. */
        ListAsked: {
            /** @description Only those after this one. */
            after?: string | null;
            /**
             * @description Also what is over.
             * @default false
             */
            all?: boolean;
            /** @description What was known then: a version, a time or a date. */
            at?: (string | "now" | unknown | unknown | unknown) | null;
            limit?: number | null;
        };
        /** @description Every key. */
        Listed: {
            items: {
                [key: string]: unknown;
            }[];
            /**
             * @deprecated
             * @description The same, by the name they had before. Use `items`.
             */
            keys: {
                [key: string]: unknown;
            }[];
        };
        /** @description A page of memories. */
        Listed2: {
            /** Format: uint */
            count: number;
            /** @description What was asked and is not done here. */
            ignored?: string[];
            next?: string | null;
            previous?: string | null;
            results: {
                [key: string]: unknown;
            }[];
        };
        /** @description Namespaces, in order. */
        Listed3: {
            namespaces: string[][];
        };
        /** @description A memory that came of it. */
        Made: {
            data: components["schemas"]["Data"];
            event: string;
            id: string;
            memory: string;
        };
        /** @description Whether it is meant; more may stand in the query. */
        Meant: {
            /** @description The token that the announcement holds. */
            confirm?: string | null;
        };
        /** @description A change of the core document. */
        MemoryEvent: {
            /** @description Who makes it: `user` only. What an agent or a tool proposes goes through `/memory/write`, where it is judged. */
            actor?: components["schemas"]["ActorIn"] | null;
            /** @description How sure, 0 to 1. */
            confidence?: number | null;
            /** @description The sender's name of it: sent again it has no second effect, as with an `Idempotency-Key`. */
            id?: string | null;
            /** @description The operations. */
            patch: ({
                path: string;
            } & ({
                /** @enum {unknown} */
                op?: "add" | "replace" | "test";
                value: unknown;
            } | {
                /** @constant */
                op?: "remove";
            } | {
                from: string;
                /** @enum {unknown} */
                op?: "move" | "copy";
            }))[];
            /** @description Why. */
            rationale?: string | null;
            /** @description The message or tool it came from. */
            source?: string | null;
            /**
             * Format: date-time
             * @description When the sender made it. The ledger has its own time, that of recording.
             */
            timestamp?: string | null;
        };
        /** @description What becomes one. */
        Merge: {
            /** @description Items that go. */
            from: string[];
            /** @description The one that stays. */
            into: string;
        };
        /** @description One message. */
        Message: {
            /** @description The words. */
            content: string;
            /** @description Who spoke, by name. */
            name?: string | null;
            role: components["schemas"]["RoleIn"];
            /**
             * Format: date-time
             * @description When it was said, if at another time than the others.
             */
            said_at?: string | null;
        };
        /** @description A message of a conversation. */
        Message2: {
            content: string;
            role: string;
        };
        /** @description One message. */
        Message3: {
            /** @description A text, or parts of which those that are text are kept. */
            content: unknown;
            name?: string | null;
            role: string;
        };
        /** @description What was said. */
        Messages: string | components["schemas"]["Message3"] | components["schemas"]["Message3"][];
        /** @description Which namespaces. */
        Namespaces: {
            /** Format: uint */
            limit?: number | null;
            /**
             * Format: uint
             * @description Longer ones are cut to so many labels.
             */
            max_depth?: number | null;
            /**
             * Format: uint
             * @default 0
             */
            offset?: number;
            /** @description How they begin; `*` stands for any label. */
            prefix?: string[] | null;
            /** @description How they end. */
            suffix?: string[] | null;
            /** @description Whose memory; the key's user, or the server's, if it is not said. */
            user_id?: string | null;
        };
        /** @description Nothing is asked. */
        NoQuery: Record<string, never>;
        /** @description An insight. */
        NoteIn: {
            /** @description How sure, 0 to 1. */
            confidence_base?: number | null;
            /**
             * @description By default what fits who writes.
             * @enum {string|null}
             */
            origin?: "model_reflection" | "human_feedback" | "rule" | null;
            /**
             * @description Free words.
             * @default []
             */
            tags?: string[];
            text: string;
        };
        /** @description One of several. */
        One: {
            /**
             * @description The last day it is shown; null, for ever.
             * @default null
             */
            expiration_date?: string | null;
            memory_id: string;
            /** @description Takes the place of what stood under the same names. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description What it says. */
            text?: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description The order of day and month.
         * @enum {string}
         */
        OrderIn: "dmy" | "mdy";
        /** @description A pack. */
        PackShown: {
            /** @description What was found for the question, as one block; empty without any. */
            changing: string;
            /** @description Items in it. */
            citations: string[];
            /** @description The tokenizer they were counted by. */
            counted_by: string;
            /**
             * Decision
             * @description Whether memory answers the question.
             */
            decision: {
                [key: string]: unknown;
            };
            /** @description What recall had to do without, if it did. */
            degraded?: string | null;
            /** @description The lines that stand for items, with their ids, origins and words. */
            lines: {
                [key: string]: unknown;
            }[];
            /** @description What was wanted of memory: `nothing`, `task`, `memory`, or `unknown` if memory seems to have nothing about it. */
            need: string;
            /** @description Items that were found and are not in it, best first; ask for them by id. */
            omitted: string[];
            /** @description Paths of the core document that did not fit. */
            omitted_paths: string[];
            /** @description The same pack can be had again by it. */
            pack_id: string;
            sections: {
                [key: string]: unknown;
            }[];
            /** @description What must never be forgotten and who the user is, as one block: the same for every question. */
            stable: string;
            /** @description What to put into a prompt: `stable`, then `changing`. */
            text: string;
            /** Format: uint */
            tokens: number;
            /**
             * Format: uint64
             * @description The version it was made of.
             */
            version: number;
        };
        /** @description A page of a list. */
        Page: {
            /** @description The entries. */
            items: {
                [key: string]: unknown;
            }[];
            /** @description What to give as `after` for the next page; none on the last. */
            next?: string | null;
            /**
             * Format: uint
             * @description How many there are on all pages.
             */
            total: number;
        };
        /** @description A page of a list. */
        Page2: {
            /** @description The entries. */
            items: {
                [key: string]: unknown;
            }[];
            /** @description What to give as `after` for the next page; none on the last. */
            next?: string | null;
            /**
             * Format: uint
             * @description How many there are on all pages.
             */
            total: number;
        };
        /** @description A page of a list. */
        Page3: {
            /** @description The entries. */
            items: {
                [key: string]: unknown;
            }[];
            /** @description What to give as `after` for the next page; none on the last. */
            next?: string | null;
            /**
             * Format: uint
             * @description How many there are on all pages.
             */
            total: number;
        };
        /** @description A page of a list. */
        Page4: {
            /** @description The entries. */
            items: {
                [key: string]: unknown;
            }[];
            /** @description What to give as `after` for the next page; none on the last. */
            next?: string | null;
            /**
             * Format: uint
             * @description How many there are on all pages.
             */
            total: number;
        };
        /** @description A page of a list. */
        Page5: {
            /** @description The entries. */
            items: {
                [key: string]: unknown;
            }[];
            /** @description What to give as `after` for the next page; none on the last. */
            next?: string | null;
            /**
             * Format: uint
             * @description How many there are on all pages.
             */
            total: number;
        };
        /** @description A page of a list. */
        Page6: {
            /** @description The entries. */
            items: {
                [key: string]: unknown;
            }[];
            /** @description What to give as `after` for the next page; none on the last. */
            next?: string | null;
            /**
             * Format: uint
             * @description How many there are on all pages.
             */
            total: number;
        };
        /** @description A page of a list. */
        Page7: {
            /** @description The entries. */
            items: {
                [key: string]: unknown;
            }[];
            /** @description What to give as `after` for the next page; none on the last. */
            next?: string | null;
            /**
             * Format: uint
             * @description How many there are on all pages.
             */
            total: number;
        };
        /** @description A page of a list. */
        Page8: {
            /** @description The entries. */
            items: {
                [key: string]: unknown;
            }[];
            /** @description What to give as `after` for the next page; none on the last. */
            next?: string | null;
            /**
             * Format: uint
             * @description How many there are on all pages.
             */
            total: number;
        };
        /** @description Which page. */
        PageAsked: {
            /** Format: uint */
            page?: number | null;
            /** Format: uint */
            page_size?: number | null;
        };
        /** @description Which events, and where to. */
        Pick: {
            events: (number | string)[];
            /** @description The user whose memory they go into. */
            into: string;
        };
        /** @description Who the caller is to mem0's clients. */
        Ping: {
            org_id: string;
            project_id: string;
            status: string;
            user_email?: string | null;
        };
        /** @description Which entries of a list that has nothing that is over. */
        PlainAsked: {
            /** @description Only those after this one. */
            after?: string | null;
            /** @description What was known then: a version, a time or a date. */
            at?: (string | "now" | unknown | unknown | unknown) | null;
            limit?: number | null;
        };
        /** @description What is to become a category. */
        Promote: {
            /** @description The pattern, as it was proposed. */
            candidate: string;
            /**
             * @description Only show what it would do.
             * @default false
             */
            dry_run?: boolean;
            /** @description What the category is called, if not as it is proposed. */
            proposedName?: string | null;
            /** @description Why. */
            rationale?: string | null;
        };
        /** @description What is put where. */
        Put: {
            /** @description Every text of a value can be searched for, whatever stands here. */
            index?: unknown;
            key: string;
            namespace: string[];
            /**
             * Format: double
             * @description Refused: nothing here ends by itself.
             */
            ttl?: number | null;
            /** @description Whose memory; the key's user, or the server's, if it is not said. */
            user_id?: string | null;
            value: {
                [key: string]: unknown;
            };
        };
        /** @description The content of the tool's result. */
        Ran: {
            content: string;
            /** @description True if the command could not be done; the content says why, to the model. */
            is_error: boolean;
        };
        /** @description What was recorded. */
        Rated: {
            feedback?: string | null;
            feedback_reason?: string | null;
            id: string;
            message: string;
        };
        /** @description Proof that it is recorded. */
        Recorded: {
            /** @description The last event. */
            event_id: string;
            /** @description Every event, in order. */
            events: {
                [key: string]: unknown;
            }[];
            /** @description What was recorded, a name for each message. */
            items: string[];
            /** @description What still has to be done, if it could not be done now. */
            lag?: string | null;
            /**
             * Format: uint64
             * @description The memory's version: recall that answers at it or later has seen this.
             */
            position: number;
            /** @description True if the same request was answered before. */
            replayed: boolean;
            /**
             * Format: uint64
             * @description Its position.
             */
            seq: number;
        };
        /** @description What is taken back. */
        Retract: {
            item_id: string;
            /** @description Why. */
            reason?: string | null;
        };
        /** @description A question. */
        Retrieve: {
            /**
             * Format: uint
             * @description How many items; 16 unless asked otherwise.
             */
            K?: number | null;
            /** @description The goal it serves. */
            active_goal?: string | null;
            /** @description What was known then: a version, a time or a date. */
            as_of?: (string | "now" | unknown | unknown | unknown) | null;
            /**
             * Format: uint
             * @description Only items up to so many tokens, estimated.
             */
            budget?: number | null;
            /**
             * @description Show how it was found.
             * @default false
             */
            explain?: boolean;
            /**
             * @description What it is for: `plan`, `reflect`, `recall`, `decide` or `nudge`.
             * @enum {string|null}
             */
            intent?: "plan" | "reflect" | "recall" | "decide" | "nudge" | null;
            /** @description The question. */
            query: string;
            /** @description Only in this conversation. */
            session_id?: string | null;
            /** @description Whose memory; the key's user, or the server's, if it is not said. */
            user_id?: string | null;
            /**
             * Format: date-time
             * @description What held then.
             */
            valid_at?: string | null;
        };
        /** @description What was found, by tier, best first. */
        Retrieved: {
            debug: components["schemas"]["Debug"];
            /**
             * Decision
             * @description Whether memory answers the question.
             */
            decision: {
                [key: string]: unknown;
            };
            /** @description What recall had to do without, if it did. */
            degraded?: string | null;
            /** @description Episodes, and what was said. */
            episodic: {
                [key: string]: unknown;
            }[];
            /** @description Facts. */
            profile: {
                [key: string]: unknown;
            }[];
            /** @description Notes, and lines of the self-model. */
            reflective: {
                [key: string]: unknown;
            }[];
            tasks: {
                [key: string]: unknown;
            }[];
            /**
             * Format: uint64
             * @description The version that answered.
             */
            version: number;
        };
        /** @description What to take back: one of `events`, `source`, `session` and `since`. */
        Revert: {
            /**
             * @description Only show what it would do.
             * @default false
             */
            dry_run?: boolean;
            /** @description These events. */
            events?: (number | string)[] | null;
            /**
             * @description Questions whose answers are compared in a dry run.
             * @default []
             */
            probes?: string[];
            /** @description Why. */
            rationale?: string | null;
            /** @description Every event of a session. */
            session?: string | null;
            /** @description Every event after a version. */
            since?: ((string | "now" | unknown | unknown | unknown) | number) | null;
            /** @description Every event of an import, file or message. */
            source?: string | null;
        } & ({
            events: unknown;
        } | {
            source: unknown;
        } | {
            session: unknown;
        } | {
            since: unknown;
        });
        /** @description What was done, or would be. */
        Reverted: {
            [key: string]: unknown;
        } | {
            /** Difference */
            difference: {
                [key: string]: unknown;
            };
            /** Receipt */
            receipt: {
                [key: string]: unknown;
            };
        };
        /** @description What of the queue. */
        ReviewAsked: {
            /** @description Only those after this one. */
            after?: string | null;
            /**
             * @description Also what was decided.
             * @default false
             */
            decided?: boolean;
            limit?: number | null;
        };
        /**
         * @description Who spoke.
         * @enum {string}
         */
        RoleIn: "user" | "assistant" | "system" | "tool";
        /**
         * @description What a key is to open.
         * @enum {string}
         */
        ScopeIn: "read" | "write" | "review" | "admin";
        /** @description The score of an item, and what adds up to it. */
        Score: {
            /** Features */
            contributions: {
                [key: string]: unknown;
            };
            id: string;
            /** Format: float */
            score: number;
        };
        /**
         * Episode
         * @description An episode and what it is worth to the question.
         */
        Scored: {
            /**
             * Format: uint32
             * @description Three for each topic it shares, four for each path, and its importance.
             */
            score: number;
        } & {
            [key: string]: unknown;
        };
        /** @description What is asked for. */
        Search: {
            agent_id?: string | null;
            app_id?: string | null;
            categories?: string[] | null;
            fields?: string[] | null;
            /** @description Whose memories, and which: `{"user_id": "ines"}`, `{"AND": […]}`. */
            filters?: unknown;
            query: string;
            /** @description What "last week" is counted from: a date, or seconds since 1970. */
            reference_date?: unknown;
            run_id?: string | null;
            /** @description Also what its sender wanted shown until a day that is over. */
            show_expired?: boolean | null;
            /**
             * Format: float
             * @description The least score; without it the best are returned whatever their score.
             */
            threshold?: number | null;
            /** Format: uint */
            top_k?: number | null;
            user_id?: string | null;
        } & {
            [key: string]: unknown;
        };
        /** @description What is searched for. */
        Search2: {
            /** @description Members of a value: `{"kind": "a", "stars": {"$gte": 3}}`. */
            filter?: {
                [key: string]: unknown;
            } | null;
            /** Format: uint */
            limit?: number | null;
            /** @default [] */
            namespace_prefix?: string[];
            /**
             * Format: uint
             * @default 0
             */
            offset?: number;
            query?: string | null;
            /** @description Nothing here ends by itself. */
            refresh_ttl?: boolean | null;
            /** @description Whose memory; the key's user, or the server's, if it is not said. */
            user_id?: string | null;
        };
        /** @description The same in a session that the path names. */
        SessionTurns: {
            messages: components["schemas"]["Message"][];
            /**
             * Format: date-time
             * @description When it was said; now, if it is not said.
             */
            said_at?: string | null;
            /** @description What it is about. */
            topic?: string | null;
            /** @description Until what the answer waits: `durable`, `indexed` or `extracted`. */
            wait?: components["schemas"]["Wait"];
        };
        /** @description Several memories. */
        Several: {
            memories: components["schemas"]["One"][];
        };
        /** @description In which shape. */
        ShapeIn: "json" | "markdown" | "mem0" | "bundle";
        /** @description A task, goal or problem. */
        TaskIn: {
            /** @description What was tried. */
            attempts?: components["schemas"]["Attempt"][];
            /** @description When it was first spoken of; now, if nothing is said. */
            created_at?: (string) | null;
            /**
             * @description More than the title.
             * @default
             */
            description?: string;
            /** @description By when. */
            due?: (string) | null;
            /**
             * @description What it is; a task, if nothing is said.
             * @enum {string|null}
             */
            kind?: "task" | "goal" | "problem" | null;
            /** @description Connections with items that are there. */
            links?: components["schemas"]["Link"][];
            /**
             * Format: uint8
             * @description 5, if nothing is said.
             */
            priority?: number | null;
            /**
             * @description Where it stands.
             * @enum {string|null}
             */
            status?: "active" | "stalled" | "done" | "dropped" | null;
            /**
             * @description Free words.
             * @default []
             */
            tags?: string[];
            /** @description A few words. */
            title: string;
        };
        /** @description A line of the self-model. */
        TenetIn: {
            /** @description The broad field. */
            domain?: string | null;
            /**
             * @description Items it rests on.
             * @default []
             */
            evidence?: string[];
            /** @enum {string} */
            kind: "value" | "preference" | "policy" | "goal";
            text: string;
            /** @description The narrow one. */
            topic?: string | null;
        };
        /** @description Which topics. */
        TopicsAsked: {
            /** @description Only those after this one. */
            after?: string | null;
            limit?: number | null;
        };
        /** @description What was said, oldest first. */
        Turns: {
            messages: components["schemas"]["Message"][];
            /**
             * Format: date-time
             * @description When it was said; now, if it is not said.
             */
            said_at?: string | null;
            /** @description The conversation. */
            session_id?: string | null;
            /** @description What it is about. */
            topic?: string | null;
            /** @description Until what the answer waits: `durable`, `indexed` or `extracted`. */
            wait?: components["schemas"]["Wait"];
        };
        /**
         * VerifyReport
         * @description What was found.
         */
        Verified: {
            /** @description True if nothing is damaged and the pin holds. */
            intact: boolean;
        } & {
            [key: string]: unknown;
        };
        /** @description What the caller knows of the ledger. */
        VerifyAsked: {
            /** @description A position and the hash it had, as `12:4f0c…`: with it a cut or rewritten ledger is noticed. */
            pin?: string | null;
        };
        /** @description Until what the answer waits. */
        Wait: "durable" | "indexed" | "extracted";
        /** @description A key that is wanted. */
        Wanted: {
            /** @description What it is called. */
            name: string;
            scopes: components["schemas"]["ScopeIn"][];
            /** @description The only user it opens anything of; without one it opens all. */
            user_id?: string | null;
        };
        /** @description Anything may stand in the query. */
        Whatever: Record<string, never>;
        /** @description Anything may stand in the query. */
        Whatever2: Record<string, never>;
        /**
         * @description Which command.
         * @enum {string}
         */
        Word: "view" | "create" | "str_replace" | "insert" | "delete" | "rename";
        /** @description Ready-made items. */
        Write: {
            /** @description Who writes: `agent` unless it says otherwise. Only `user` may say who the user is without a review. */
            actor?: components["schemas"]["ActorIn"] | null;
            /**
             * @description Episodes are told from turns, by the engine: each of these is rejected with that reason.
             * @default []
             */
            episodes?: unknown[];
            /**
             * @description Claims: `subject, predicate, object`, or `s, p, o`.
             * @default []
             */
            facts?: components["schemas"]["FactIn"][];
            /**
             * @description Notes.
             * @default []
             */
            reflective?: components["schemas"]["NoteIn"][];
            /** @default [] */
            tasks?: components["schemas"]["TaskIn"][];
            /**
             * @description Lines of the self-model.
             * @default []
             */
            tenets?: components["schemas"]["TenetIn"][];
            /** @description Whose memory; the key's user, or the server's, if it is not said. */
            user_id?: string | null;
        } | {
            facts: unknown;
        } | {
            episodes: unknown;
        } | {
            reflective: unknown;
        } | {
            tasks: unknown;
        } | {
            tenets: unknown;
        };
        /** @description What became of it. */
        Written: {
            /** @description Items that were made, or that were known and are now said once more. */
            accepted: string[];
            /** @description What was sent and has no place here, by where it stands: `facts[0].version`. It stands in none of the items. */
            ignored?: string[];
            /** @description What did not pass, and why. */
            rejected: {
                [key: string]: unknown;
            }[];
            /** @description True if the same request was answered before. */
            replayed: boolean;
            /** @description The source that holds what was written. */
            source?: string | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
