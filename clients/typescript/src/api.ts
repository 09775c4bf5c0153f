// The types of the API. Made by `tools/types.js` of what the server says: change nothing here.

export interface paths {
    "/health/ready": {
        parameters: {
        };
        /** Readiness: the store responds and the queue of turns has room */
        get: {
            parameters: {
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Readiness"];
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
                        "application/json": components["schemas"]["KeyList"];
                    };
                };
            };
        };
        /** Creates a key; its secret is returned only once */
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewKeyRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["NewKey"];
                    };
                };
            };
        };
    };
    "/keys/{key_id}": {
        parameters: {
        };
        /** Revokes a key */
        delete: {
            parameters: {
                path: {
                    key_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Key"];
                    };
                };
            };
        };
    };
    "/memory/compact": {
        parameters: {
        };
        /** Folds duplicates, promotes recurring facts and demotes unused items */
        post: {
            parameters: {
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["CompactRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["CompactReport"];
                    };
                };
            };
        };
    };
    "/memory/profile/version": {
        parameters: {
        };
        /** Ends the validity of a fact at a given time */
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CloseFactRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Receipt"];
                    };
                };
            };
        };
    };
    "/memory/retrieve": {
        parameters: {
        };
        /** Searches the memory; results by tier */
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RecallRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["RecallResult"];
                    };
                };
            };
        };
    };
    "/memory/write": {
        parameters: {
        };
        /** Writes items; the gate decides on each */
        post: {
            parameters: {
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["WriteRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["WriteResult"];
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
                    at?: string;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["CoreDocument"];
                    };
                };
            };
        };
        /** Deletes a user and the whole memory, after confirmation */
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
                        "application/json": components["schemas"]["UserErasure"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/blame": {
        parameters: {
        };
        /** Events that changed a path of the core document, or an item */
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
                        "application/json": components["schemas"]["BlameResult"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/conflicts": {
        parameters: {
        };
        /** Conflicting values */
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
                        "application/json": components["schemas"]["ConflictPage"];
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
                    "application/json": components["schemas"]["ContextRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["ContextResult"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/diff": {
        parameters: {
        };
        /** Differences between two versions */
        get: {
            parameters: {
                query: {
                    from: string;
                    to?: string;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Difference"];
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
                    "application/json": components["schemas"]["EntryRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["TurnsReceipt"];
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
                    at?: string;
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
                        "application/json": components["schemas"]["EpisodeList"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/erase": {
        parameters: {
        };
        /** Erases items: destroys their payload everywhere */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["EraseRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["ErasureReceipt"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/events": {
        parameters: {
        };
        /** Events, oldest first; with `Accept: text/event-stream`, each as it is recorded */
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
                        "application/json": components["schemas"]["EventsPage"];
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
                    "application/json": components["schemas"]["CorePatchRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Receipt"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/export": {
        parameters: {
        };
        /** Exports a memory */
        get: {
            parameters: {
                query?: {
                    format?: "json" | "markdown" | "mem0" | "bundle";
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
        /** Current facts, most important first */
        get: {
            parameters: {
                query?: {
                    after?: string;
                    all?: boolean;
                    at?: string;
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
                        "application/json": components["schemas"]["FactViewPage"];
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
                    "application/json": components["schemas"]["ForkRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Receipt"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/global": {
        parameters: {
        };
        /** The global memory: active topics and permanent facts */
        get: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["GlobalMemory"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/import": {
        parameters: {
        };
        /** Imports a file of another system */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ImportRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["ImportResult"];
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
                    at?: string;
                };
                path: {
                    user_id: string;
                    item_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["ItemView"];
                    };
                };
            };
        };
        /** Pins, rates, scores or edits an item */
        patch: {
            parameters: {
                path: {
                    user_id: string;
                    item_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ItemChangeRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["ItemChangeReceipts"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/items/{item_id}/why": {
        parameters: {
        };
        /** Evidence of an item, and every event about it */
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
                        "application/json": components["schemas"]["ItemHistory"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/merge": {
        parameters: {
        };
        /** Merges items of one kind */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["MergeRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Receipt"];
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
                    at?: string;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["NotePage"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/packs/{pack_id}": {
        parameters: {
        };
        /** Rebuilds a pack from its id */
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
                        "application/json": components["schemas"]["ReproducedPack"];
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
                    "application/json": components["schemas"]["PickRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["PickReceipt"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/retract": {
        parameters: {
        };
        /** Retracts an item; the history keeps it */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RetractRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Receipt"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/revert": {
        parameters: {
        };
        /** Reverts events, or previews a revert */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RevertRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["RevertResult"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/review": {
        parameters: {
        };
        /** The review queue */
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
                        "application/json": components["schemas"]["PendingReviewPage"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/review/{review_id}": {
        parameters: {
        };
        /** Decides an entry of the review queue */
        post: {
            parameters: {
                path: {
                    user_id: string;
                    review_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReviewDecisionRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["Receipt"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/schema/promote": {
        parameters: {
        };
        /** Promotes a pattern to a category */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PromoteRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["PromoteReport"];
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
                    at?: string;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["SessionOverviewPage"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/sessions/{session_id}": {
        parameters: {
        };
        /** State of a session: base truth, turn log, raw window and artifacts */
        get: {
            parameters: {
                query?: {
                    at?: string;
                };
                path: {
                    user_id: string;
                    session_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["SessionState"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/sessions/{session_id}/turns": {
        parameters: {
        };
        /** Records messages of a session */
        post: {
            parameters: {
                path: {
                    user_id: string;
                    session_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SessionTurnsRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["TurnsReceipt"];
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
                    at?: string;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["TaskPage"];
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
                    at?: string;
                    limit?: number;
                };
                path: {
                    user_id: string;
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["TenetPage"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/topics": {
        parameters: {
        };
        /** Topic memories, newest first */
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
                        "application/json": components["schemas"]["TopicMemoryPage"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/turns": {
        parameters: {
        };
        /** Records messages, all or none */
        post: {
            parameters: {
                path: {
                    user_id: string;
                };
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TurnsRequest"];
                };
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["TurnsReceipt"];
                    };
                };
            };
        };
    };
    "/memory/{user_id}/verify": {
        parameters: {
        };
        /** Verifies the ledger */
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
                        "application/json": components["schemas"]["VerifyResult"];
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
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/version": {
        parameters: {
        };
        /** Name and version of the server */
        get: {
            parameters: {
            };
            responses: {
                200: {
                    content: {
                        "application/json": components["schemas"]["ServerVersion"];
                    };
                };
            };
        };
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Size of the active index. */
        ActiveIndex: {
            /**
             * Format: uint
             * @description Those of them in the active index.
             */
            active: number;
            /**
             * Format: uint
             * @description Items that recall can return: sources and derived items.
             */
            items: number;
        };
        /** @description Who made a change. */
        Actor: "user" | "agent" | "system";
        /** @description Emotion in two dimensions. */
        Affect: {
            /**
             * Format: double
             * @description From 0 (calm) to 1 (excited).
             */
            arousal: number;
            /**
             * Format: double
             * @description From −1 (bad) to 1 (good).
             */
            valence: number;
        };
        /** @description What a deletion would destroy. */
        Announcement: {
            /** @description The token to pass as `confirm`. It is valid until the memory changes. */
            confirm: string;
            /**
             * Format: uint64
             * @description Events whose payload would be destroyed; for a whole memory, all events.
             */
            events: number;
            /** @description True if the whole memory would be deleted. */
            everything: boolean;
            /**
             * Format: uint64
             * @description Plain files that would be deleted. An erasure rewrites files instead.
             */
            files: number;
            /**
             * Format: uint64
             * @description Sources in them and items derived from them.
             */
            items: number;
            /**
             * Format: uint64
             * @description Keys that would be revoked.
             */
            keys: number;
            /** @description The user. */
            user_id: components["schemas"]["UserId"];
            /**
             * Format: uint64
             * @description The version it was computed from.
             */
            version: number;
        };
        /** @description An answer of a recall. */
        Answer: {
            /** @description Items grouped with this answer, because they state the same or are next to it. */
            also?: components["schemas"]["ItemId"][];
            /**
             * Format: double
             * @description How far what it says can be relied on, 0 to 1: from its source, agreement and likeness to the question.
             */
            confidence: number;
            /** @description Unsettled statements that contradict it. */
            contested_by?: [
                components["schemas"]["ItemId"],
                string
            ][];
            /** @description Contribution of each feature. */
            contributions: components["schemas"]["Contributions"];
            /** @description The field of the core document a fact is written to. */
            core_path?: string | null;
            /**
             * Format: uint64
             * @description The event that recorded it.
             */
            event_seq: number;
            /** @description Quotes from the sources it was read from. */
            evidence?: components["schemas"]["Quote"][];
            /**
             * Format: uint64
             * @description Number of hits.
             */
            hits: number;
            /** @description The item. */
            id: components["schemas"]["ItemId"];
            /** @description Its kind: `turn`, `fact`, `ep` … */
            kind: string;
            /**
             * Format: date-time
             * @description Time of the last hit.
             */
            last_hit_at?: string | null;
            /** @description Its id in the imported data. */
            native_id: string | null;
            /** @description Statements in its text that no longer hold or never did. */
            outdated?: [
                components["schemas"]["ItemId"],
                string
            ][];
            /**
             * Format: float
             * @description Sum of the contributions.
             */
            raw_score: number;
            /**
             * Format: float
             * @description Score of the reranker on its own scale, if the list is in that order.
             */
            reranked?: number | null;
            /**
             * Format: date-time
             * @description Time of the message; for a fact, when it was last stated.
             */
            said_at: string | null;
            /**
             * Format: float
             * @description Score from 0 to 1: the raw score as a share of the highest possible one.
             */
            score: number;
            /** @description The session. */
            session_id: string | null;
            /** @description Byte range of that part in the item's searchable text. */
            span: components["schemas"]["Span"];
            /** @description The speaker; for a fact, its subject. */
            speaker: string;
            /** @description Scores that determine its rank. */
            standing: components["schemas"]["UsageScores"];
            /** @description Status, unless it is simply active: `contested`, `superseded`, `open`, `completed` … */
            status?: string | null;
            /** @description The part of the item that answers best. */
            text: string;
            /** @description Trust of its source. */
            trust: components["schemas"]["Trust"];
            /** @description Statements of others in its text that wait for the user's decision: item and text. */
            unconfirmed?: [
                components["schemas"]["ItemId"],
                string
            ][];
            /**
             * Format: date-time
             * @description Start of validity, if known.
             */
            valid_from?: string | null;
            /**
             * Format: date-time
             * @description End of validity, if known.
             */
            valid_to?: string | null;
        };
        /** @description Features that separate answerable questions from unanswerable ones. */
        AnswerSignals: {
            /**
             * Format: double
             * @description Agreement of its date with a date in the question.
             */
            date: number;
            /**
             * Format: double
             * @description 1 if it is a statement about the person, matter and time of the question and covers all of it.
             */
            holds: number;
            /**
             * Format: double
             * @description Idf-weighted share of the question's terms that occur in memory.
             */
            known: number;
            /**
             * Format: double
             * @description Coverage of the question's tokens by its tokens.
             */
            late: number;
            /**
             * Format: double
             * @description The same with its neighbours.
             */
            late_near: number;
            /**
             * Format: double
             * @description Lead of its score over the fifth, as a share of the maximum score.
             */
            lead: number;
            /**
             * Format: double
             * @description Normalised BM25 of the best answer.
             */
            n: number;
            /**
             * Format: double
             * @description Normalised BM25 of its session.
             */
            n_sess: number;
            /**
             * Format: double
             * @description 1 if its author is the one the question names.
             */
            spk: number;
            /**
             * Format: double
             * @description 1 if a term of the question does not occur in memory.
             */
            unknown: number;
            /**
             * Format: double
             * @description Its cosine with the question.
             */
            x: number;
        };
        /** @description Number of passages an arm nominated. */
        ArmCount: {
            /** @description The arm. */
            arm: components["schemas"]["RecallArm"];
            /**
             * Format: uint
             * @description Number of its nominees.
             */
            nominated: number;
        };
        /** @description An artifact of a source: an image's caption, a code block, an attached file. */
        Artifact: {
            /** @description Its kind: `image`, `code`, `file`. */
            kind: string;
            /** @description Its location or name, if known. */
            name: string | null;
            /** @description Its text: the code, the caption. */
            text: string;
        };
        /** @description An attempt to solve a problem. */
        Attempt: {
            /** @description What was tried. */
            approach: string;
            /**
             * Format: date-time
             * @description The date.
             */
            date?: string | null;
            /** @description The evidence. */
            evidence: components["schemas"]["Evidence"][];
            /** @description The outcome, as said. */
            outcome?: string;
            /** @description Whether it helped, if known. */
            successful?: boolean | null;
        };
        /** @description An attempt at a task. */
        AttemptInput: {
            /** @description What was tried. */
            approach: string;
            /** @description Time. Defaults to now. */
            date?: (string) | null;
            /**
             * @description Outcome.
             * @default
             */
            outcome?: string;
            /** @description True if the attempt succeeded. */
            successful?: boolean | null;
        };
        /** @description An entry of a base truth, in force or not. */
        BaseTruthEntry: {
            /** @description Its removal, if any. */
            gone: components["schemas"]["BaseTruthRemoval"] | null;
            /**
             * Format: uint64
             * @description The event that added it.
             */
            seq: number;
            /** @description The entry. */
            truth: components["schemas"]["Truth"];
        };
        /** @description An entry of a base truth for display. */
        BaseTruthLine: {
            /** @description True if a person set it. */
            by_hand: boolean;
            /**
             * Format: uint64
             * @description The event that made it.
             */
            event_seq: number | null;
            /** @description Its evidence. */
            evidence: components["schemas"]["Evidence"][];
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description Its kind. */
            kind: components["schemas"]["TruthKind"];
            /** @description Its text. */
            text: string;
            /** @description Trust of its source. */
            trust: components["schemas"]["Trust"];
            /**
             * Format: uint32
             * @description The turn it was summarised from; `None` if it was set by hand or merged.
             */
            turn: number | null;
        };
        /** @description The removal of an entry. */
        BaseTruthRemoval: {
            /** @description The entry that replaces it, if any. */
            into: components["schemas"]["ItemId"] | null;
            /**
             * Format: uint64
             * @description The event that removed it.
             */
            seq: number;
        };
        /** @description Events that changed the path or item. */
        BlameResult: {
            items: components["schemas"]["BlameStep"][];
            /**
             * @deprecated
             * @description The same under an older name. Use `items`.
             */
            steps: components["schemas"]["BlameStep"][];
        };
        /** @description One step in the history of a value or an item. */
        BlameStep: {
            /** @description Who caused it. */
            actor: components["schemas"]["Actor"];
            /** @description The value after it. */
            after: unknown;
            /** @description The value before it. */
            before: unknown;
            /**
             * Format: uint
             * @description Changes whose payload was erased.
             */
            erased: number;
            /** @description Hash of the event. */
            hash: string;
            /**
             * Format: uuid
             * @description Id of the event.
             */
            id: string;
            /** @description The recorded reason. */
            rationale: string | null;
            /**
             * Format: date-time
             * @description Time of recording.
             */
            recorded_at: string;
            /** @description The import, file or message. */
            reference: string | null;
            /**
             * Format: uint64
             * @description Position of the event.
             */
            seq: number;
            /** @description Kind of the source. */
            source: components["schemas"]["SourceKind"];
            /** @description Whether it counts. */
            standing: components["schemas"]["EventStatus"];
            /** @description Short summary of its changes. */
            summary: string;
            /** @description Trust of the source. */
            trust: components["schemas"]["Trust"];
        };
        /** @description A reference to one change of an event. */
        ChangeRef: {
            /**
             * Format: uint32
             * @description Index of the change.
             */
            index: number;
            /**
             * Format: uint64
             * @description Position of the event.
             */
            seq: number;
        };
        /** @description A fact that ended. */
        CloseFactRequest: {
            fact_id: string;
            /** @description User whose memory it is. Defaults to the user of the key, then of the server. */
            user_id?: string | null;
            /** @description End of validity. */
            valid_to: string;
        };
        /** @description Result of a compaction. */
        CompactReport: {
            /** @description The active index after. */
            after: components["schemas"]["ActiveIndex"];
            /** @description The active index before. */
            before: components["schemas"]["ActiveIndex"];
            /** @description What was done, in order. */
            done: components["schemas"]["ConsolidationEvent"][];
            /** @description True if nothing was appended. */
            dry_run: boolean;
            /** @description Why the model did not answer, if it failed. */
            fault?: string | null;
            /**
             * Format: uint
             * @description Number of known decisions left for the next run.
             */
            left: number;
            /** @description Reference shared by all events of the run; `quipu revert --source` reverts them together. `None` without events. */
            reference?: string | null;
            /** @description Proposals of a model that were rejected, and why. */
            refused?: components["schemas"]["Rejection"][];
            /**
             * Format: uint64
             * @description The version the decisions are based on.
             */
            version: number;
        };
        /** @description A memory to compact. */
        CompactRequest: {
            /**
             * @description Report the effect without recording anything.
             * @default false
             */
            dry_run?: boolean;
            /** @description User whose memory it is. Defaults to the user of the key, then of the server. */
            user_id?: string | null;
        };
        /** @description Contradicting facts. */
        Conflict: {
            /** @description The facts it contradicts: those that hold in the same slot. */
            against: components["schemas"]["FactView"][];
            /** @description The contested fact. */
            contested: components["schemas"]["FactView"];
            /** @description The question of the review. */
            question: string | null;
            /** @description The review about the conflict, if any. */
            review: components["schemas"]["ItemId"] | null;
        };
        /** @description A page of a list. */
        ConflictPage: {
            /** @description The entries. */
            items: components["schemas"]["Conflict"][];
            /** @description Value of `after` for the next page; null on the last. */
            next: string | null;
            /**
             * Format: uint
             * @description Number of entries on all pages.
             */
            total: number;
        };
        /** @description One thing that was done, or would be. */
        ConsolidationEvent: {
            /** @description The reason. */
            because: string;
            /**
             * Format: uint64
             * @description The event; `None` in a dry run.
             */
            event_seq?: number | null;
            /** @description The items concerned. In a merge the remaining item comes first. */
            items: components["schemas"]["ItemId"][];
            /** @description Their content in one line. */
            text: string;
            /** @description The kind of decision. */
            what: components["schemas"]["GrowthSubject"];
        };
        /** @description A message of a conversation. */
        ContextMessage: {
            content: string;
            role: string;
        };
        /** @description The memory block of a prompt. */
        ContextPack: {
            /** @description Items found for the question as one block; may be empty. */
            changing: string;
            /** @description Items in the pack. */
            citations: components["schemas"]["ItemId"][];
            /** @description Tokenizer that counted the tokens. */
            counted_by: string;
            /** @description Whether the memory answers the question. */
            decision: components["schemas"]["RecallDecision"];
            /** @description What recall had to do without, for example vectors. Null if nothing was missing. */
            degraded: string | null;
            /** @description Lines of the pack with the ids, sources and texts of their items. */
            lines: components["schemas"]["PackLine"][];
            /** @description What the question needs of memory: `nothing`, `task`, `memory`, or `unknown` if nothing relevant is stored. */
            need: components["schemas"]["RequestNeed"];
            /** @description Items found but not in the pack, best first. They can be read by id. */
            omitted: components["schemas"]["ItemId"][];
            /** @description Paths of the core document that did not fit. */
            omitted_paths: string[];
            /** @description Id of the pack; it reproduces the pack. */
            pack_id: string;
            sections: components["schemas"]["PackSection"][];
            /** @description Permanent facts and the user's profile as one block; it does not depend on the question. */
            stable: string;
            /** @description Text for the prompt: `stable`, then `changing`. */
            text: string;
            /** Format: uint */
            tokens: number;
            /**
             * Format: uint64
             * @description Version of the memory the pack was built from.
             */
            version: number;
        };
        /** @description A request for the memory block of a prompt. One of `query`, `messages` and `session_id` is required. */
        ContextRequest: {
            /** @description Answer from this version: a position, a time or a date. Defaults to now. */
            as_of?: (string) | null;
            /**
             * @description Add an instruction to cite the lines used. Has no effect with `session_id`.
             * @default false
             */
            cite?: boolean;
            /**
             * @description Mark the lines with full ids instead of numbers. Has no effect with `session_id`.
             * @default false
             */
            ids?: boolean;
            /**
             * @description Purpose of the answer: `plan`, `reflect`, `recall`, `decide` or `nudge`.
             * @enum {string|null}
             */
            intent?: "plan" | "reflect" | "recall" | "decide" | "nudge" | null;
            /**
             * Format: uint
             * @description Token budget.
             */
            max_tokens?: number | null;
            /** @description A conversation whose last user message is the question. */
            messages?: components["schemas"]["ContextMessage"][] | null;
            /** @description Reference time for relative dates such as "last week". Defaults to now. */
            now?: (string) | null;
            /** @description The question or task. */
            query?: string | null;
            /** @description Build the context of this session: base truth, turn log, recalled items and the last turns. */
            session_id?: string | null;
            /**
             * @description Tokenizer that counts the tokens.
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
        /** @description A pack, or the context of a session if the request names one. */
        ContextResult: components["schemas"]["ContextPack"] | components["schemas"]["SessionContext"];
        /** @description One number per feature: a value, a weight, or their product, the contribution to a score. */
        Contributions: {
            /**
             * Format: float
             * @description 1 if the passage has hardly any content words.
             */
            brief: number;
            /**
             * Format: float
             * @description How well it matches the codes in the question, 0 … 1: terms that identify one thing, such as an order number.
             * @default 0
             */
            code: number;
            /**
             * Format: float
             * @description Conciseness: near 1 for few words, 0 for 400 terms and more: `1 − ln(1 + terms) / 6`.
             */
            concise: number;
            /**
             * Format: float
             * @description Agreement of the passage's day with a date in the question, 0 … 1.
             */
            date: number;
            /**
             * Format: float
             * @description Reverse position in memory, 0 … 1, if the question asks about the past.
             */
            early_told: number;
            /**
             * Format: float
             * @description For a statement: how much of the question it answers for the person and time in question, 0 … 1; negative if it
             *     is about someone else. 0 for a passage.
             */
            holds: number;
            /**
             * Format: float
             * @description 1 if the passage ends with a question mark.
             */
            isq: number;
            /**
             * Format: float
             * @description How well the passage's tokens cover the question's by meaning, 0 … 1.
             */
            late: number;
            /**
             * Format: float
             * @description The same including its neighbours.
             */
            late_near: number;
            /**
             * Format: float
             * @description Position in memory, 0 … 1, if the question asks about the present.
             */
            late_told: number;
            /**
             * Format: float
             * @description 1 if the user states a like or dislike and the question is a request.
             */
            likes: number;
            /**
             * Format: float
             * @description Normalised BM25 of the passage, 0 … 1.9.
             */
            n: number;
            /**
             * Format: float
             * @description The same of the next passage.
             */
            n_next: number;
            /**
             * Format: float
             * @description The same of the previous passage of the session.
             */
            n_prev: number;
            /**
             * Format: float
             * @description Normalised BM25 of the whole session, 0 … 1.9.
             */
            n_sess: number;
            /**
             * Format: float
             * @description 1 if it contains a name and the question asks for one.
             */
            name: number;
            /**
             * Format: float
             * @description 1 if it contains a number and the question asks for one.
             */
            number: number;
            /**
             * Format: float
             * @description 1 if the words are not an assistant's; 2 if the question asks for the order in which things were mentioned.
             */
            own: number;
            /**
             * Format: float
             * @description 1 if the words are an assistant's and the question asks what it said.
             */
            reply: number;
            /**
             * Format: float
             * @description 1 if the user tells the assistant how to behave; 2 if the question is a request.
             */
            rule: number;
            /**
             * Format: float
             * @description 1 if the question names one author and the passage is theirs.
             */
            spk: number;
            /**
             * Format: float
             * @description If the passage names a time: 1 if the question asks for one, else .2, since events are told with a time and
             *     small talk is not.
             */
            when: number;
            /**
             * Format: float
             * @description Cosine of the question in the first person with the passage and its predecessor, −1 … 1.
             */
            x: number;
            /**
             * Format: float
             * @description Cosine of the question with the passage that answers this one, or that this one answers, −1 … 1.
             */
            x_near: number;
        };
        /** @description Result of importing one conversation. */
        ConversationReport: {
            /**
             * Format: date-time
             * @description The earliest known time.
             */
            first_said_at: string | null;
            /**
             * Format: uint64
             * @description Sources that were known already.
             */
            known: number;
            /**
             * Format: date-time
             * @description The latest known time.
             */
            last_said_at: string | null;
            /** @description Its name in the input. */
            name: string;
            /**
             * Format: uint64
             * @description Sources recorded now.
             */
            new: number;
            /**
             * Format: uint
             * @description Number of sessions.
             */
            sessions: number;
            /**
             * Format: uint64
             * @description Sources without a time.
             */
            undated: number;
            /** @description The user it was imported into. */
            user_id: components["schemas"]["UserId"];
        };
        /** @description The core document at a version. */
        CoreDocument: {
            /** @description Free-form JSON: the user's own fields under the categories of the memory. */
            document: unknown;
            user_id: string;
            /**
             * Format: uint64
             * @description Position of the newest event the document includes.
             */
            version: number;
        };
        /** @description A change of the core document, as a JSON Patch. */
        CorePatchRequest: {
            /** @description Author of the change; only `user` is accepted. Proposals of agents and tools go to `/memory/write`. */
            actor?: components["schemas"]["RequestActor"] | null;
            /** @description Confidence, 0 to 1. */
            confidence?: number | null;
            /** @description The sender's id of the change; it works as an `Idempotency-Key`. */
            id?: string | null;
            /** @description The operations (RFC 6902). */
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
            /** @description The reason, stored with the event. */
            rationale?: string | null;
            /** @description Reference to the message or tool the change came from. */
            source?: string | null;
            /**
             * Format: date-time
             * @description The sender's time of the change. Ignored: the ledger records its own time.
             */
            timestamp?: string | null;
        };
        /** @description The database server behind the store, and who shares it. */
        DatabaseState: {
            /** @description Its kind, such as `PostgreSQL`. */
            kind: string;
            /** @description Names of the live Quipu servers on it, this one included. */
            servers: string[];
            /** @description Its version. */
            version: string;
        };
        /** @description An interval of days, possibly without a start or an end. */
        DateInterval: {
            /**
             * Format: date
             * @description The first day.
             */
            from: string | null;
            /**
             * Format: date
             * @description The day after the last.
             */
            until: string | null;
            /** @description True for "recently" and "lately", which are imprecise. */
            vague: boolean;
        };
        /**
         * @description Order of day and month in dates.
         * @enum {string}
         */
        DateOrder: "dmy" | "mdy";
        /** @description Kind of a proposed change to the base truth. */
        DiffOp: "remove" | "update" | "add" | "summary";
        /** @description What differs between two versions. */
        Difference: {
            /** @description The same difference, path by path. */
            core_changes: components["schemas"]["PathChange"][];
            /** @description Turns the earlier core document into the later one (RFC 6902). */
            core_patch: components["schemas"]["JsonPatch"];
            /**
             * Format: uint64
             * @description The earlier version.
             */
            from: number;
            /** @description Items added, removed, changed and marked. */
            items: components["schemas"]["ItemChange"][];
            /** @description Orphans only in the earlier version whose events still count: they apply again. */
            orphans_healed: components["schemas"]["Orphan"][];
            /** @description Orphans only in the later version. */
            orphans_new: components["schemas"]["Orphan"][];
            /**
             * Format: uint64
             * @description The later version.
             */
            to: number;
        };
        /** @description An entry in a topic's list. */
        EntryLine: {
            /**
             * Format: date
             * @description Its day.
             */
            day: string;
            /** @description Its folder. */
            entry_id: string;
            /**
             * Format: uint
             * @description Number of facts recorded or changed.
             */
            facts: number;
            /** @description True if it is still open. */
            open?: boolean;
            /**
             * Format: uint
             * @description Number of sources.
             */
            sources: number;
        };
        /** @description A journal entry. */
        EntryRequest: {
            /** @description Time of the entry. Defaults to now. */
            said_at?: (string) | null;
            text: string;
            topic: string;
            /** @description When to respond: `durable`, `indexed` or `extracted`. */
            wait?: components["schemas"]["WaitUntil"];
        };
        /** @description A stretch of one session with a summary. The sentences themselves stay in the sources. */
        Episode: {
            /** @description The emotion. */
            affect: components["schemas"]["Affect"];
            /** @description The broad subject area. */
            domain?: string | null;
            /**
             * Format: date-time
             * @description End of the episode.
             */
            end?: string | null;
            /** @description Facts extracted from it. */
            facts?: components["schemas"]["ItemId"][];
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /**
             * Format: uint8
             * @description From 1 to 10.
             */
            importance: number;
            /** @description The speakers, by name or role. */
            participants: string[];
            /** @description The sentences the summary was taken from, verbatim. */
            raw_excerpt: string;
            /** @description Paths of the core document it influenced. */
            related_paths?: string[];
            /** @description The sentiment. */
            sentiment: components["schemas"]["Sentiment"];
            /** @description The session. */
            session_id?: string | null;
            /** @description Its sources, in order; never empty. */
            sources: components["schemas"]["ItemId"][];
            /**
             * Format: date-time
             * @description Start of the episode.
             */
            start?: string | null;
            /** @description A few sentences. */
            summary: string;
            /** @description Free tags. */
            tags?: string[];
            /** @description A few words. */
            title: string;
            /** @description Its topics, most significant first. */
            topics: string[];
            /** @description Indices of the first and last source within the session, from 0. */
            turn_range: [
                number,
                number
            ];
        };
        /** @description Episodes, best first. */
        EpisodeList: {
            /**
             * @deprecated
             * @description The same under an older name. Use `items`.
             */
            episodes: components["schemas"]["ScoredEpisode"][];
            items: components["schemas"]["ScoredEpisode"][];
        };
        /** @description An episode. */
        EpisodeRow: {
            /** @description True if it was retracted. */
            gone?: boolean;
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /**
             * Format: uint8
             * @description From 1 to 10.
             */
            importance: number;
            /**
             * Format: date-time
             * @description Start of the episode.
             */
            start?: string | null;
            /** @description A few sentences. */
            summary: string;
            /** @description A few words. */
            title: string;
        };
        /** @description Payloads to destroy. */
        EraseRequest: {
            /** @description Confirmation token, required for more than 100 changes. */
            confirm?: string | null;
            /** @description The reason. It stays in the ledger and must not repeat what is erased. */
            reason?: string | null;
            /** @description Items, events (`12`) and single changes (`12.0`). */
            targets: (string | unknown)[];
        };
        /** @description A change erased by a recorded event. */
        ErasedChange: {
            /**
             * Format: uint64
             * @description The event that erased it.
             */
            by: number;
            /** @description The erased change. */
            target: components["schemas"]["ChangeRef"];
        };
        /** @description Proof of an erasure. */
        ErasureReceipt: {
            /** @description The changes whose payload was destroyed. */
            erased: components["schemas"]["ChangeRef"][];
            /**
             * Format: uint64
             * @description The event that records it.
             */
            event_seq: number;
            /** @description Plain files that were rewritten or removed. */
            files?: string[];
            /** @description In an encrypted store: what was done with the user's keys, if that is finished. */
            keys?: components["schemas"]["KeyErasure"] | null;
            /** @description Why recall does not see all of the rest yet, or the user's previous key is not destroyed yet, if a later step failed. */
            lag: string | null;
            /** @description Later events that no longer apply. */
            orphans_new: components["schemas"]["Orphan"][];
            /** @description Places that held copies and were rebuilt. */
            rebuilt: string[];
            /** @description Sources that still contain words from which erased items were read. Erase them too if the words should go. */
            sources_left: components["schemas"]["ItemId"][];
            /** @description What was read again from the remaining sources, because its basis was erased. */
            understood: components["schemas"]["Understanding"];
        };
        /** @description Whether an event counts. */
        EventStatus: "counts" | "reverted" | "orphaned";
        /** @description A page of events. */
        EventsPage: {
            /**
             * @deprecated
             * @description The same under an older name. Use `items`.
             */
            events: components["schemas"]["LogEntry"][];
            items: components["schemas"]["LogEntry"][];
            /**
             * Format: uint64
             * @description Value of `after` for the next page; null on the last.
             */
            next: number | null;
            /**
             * Format: uint64
             * @description Number of entries on all pages.
             */
            total: number;
        };
        /** @description A byte range in a source. */
        Evidence: {
            /**
             * Format: uint32
             * @description One past the last byte.
             */
            end: number;
            /** @description The source. */
            source: components["schemas"]["ItemId"];
            /**
             * Format: uint32
             * @description First byte.
             */
            start: number;
        };
        /** @description The facts of one tier and type. */
        FactGroup: {
            /** @description Most important first. */
            facts: components["schemas"]["PermanentFact"][];
            /** @description The tier. */
            tier: components["schemas"]["FactTier"];
            /** @description The type. */
            type: components["schemas"]["FactType"];
        };
        /** @description A claim; `s`, `p` and `o` stand for subject, predicate and object. */
        FactInput: {
            /** @description Confidence, 0 to 1. */
            confidence_base?: number | null;
            /** @description Domain. Defaults to that of the relation. */
            domain?: string | null;
            /** @description Links to existing items. */
            links?: components["schemas"]["LinkInput"][];
            /** @description The value. */
            object: string;
            /** @description The relation. */
            predicate: string;
            /**
             * @description Further details by name.
             * @default {}
             */
            qualifiers?: {
                [key: string]: string;
            };
            /** @description Subject of the claim. Defaults to the user. */
            subject?: string | null;
            /**
             * @description Free-form tags.
             * @default []
             */
            tags?: string[];
            /** @description The claim as a sentence, kept word for word as its evidence. The fact is worded from its relation. */
            text?: string | null;
            /** @description Topic. */
            topic?: string | null;
            /** @description Start of validity. */
            valid_from?: (string) | null;
            /** @description End of validity. */
            valid_to?: (string) | null;
        };
        /** @description A fact, as `subject relation object`. */
        FactRow: {
            /**
             * Format: double
             * @description Confidence, 0 to 1.
             */
            confidence: number;
            /** @description The entry that first recorded it. Set by the topic memory, not by the entry itself. */
            entry_id?: string | null;
            /**
             * Format: date-time
             * @description Start of that entry.
             */
            entry_ts?: string | null;
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /**
             * Format: double
             * @description Intrinsic importance, 0 to 1.
             */
            importance: number;
            /**
             * Format: date-time
             * @description When it was last said.
             */
            last_seen?: string | null;
            /** @description The value. */
            object: string;
            /** @description True if the user pinned it. */
            pinned?: boolean;
            /** @description The predicate. */
            relation: string;
            /**
             * Format: uint32
             * @description How often it was said.
             */
            seen_count: number;
            /** @description The sources; empty if it was entered by hand. */
            source_ids: components["schemas"]["ItemId"][];
            /** @description Its status. */
            status: components["schemas"]["FactStatus"];
            /** @description The entity it is about. */
            subject: string;
            /** @description The claim as a sentence. */
            text: string;
            /** @description How long it is expected to hold. */
            time_span: components["schemas"]["TimeSpan"];
            /** @description Its type. */
            type: components["schemas"]["FactType"];
            /**
             * Format: uint8
             * @description Score set by the user, 0 to 10. Overrides the computed worth.
             */
            user_fact_score?: number | null;
            /**
             * Format: date-time
             * @description Start of validity.
             */
            valid_from?: string | null;
            /**
             * Format: date-time
             * @description End of validity.
             */
            valid_to?: string | null;
        };
        /** @description Status of a fact. *Superseded* was true once; *corrected* never was. */
        FactStatus: "active" | "superseded" | "corrected" | "contested" | "uncertain" | "retracted";
        /** @description How important a fact is. */
        FactTier: "core" | "secondary";
        /** @description Type of a fact. */
        FactType: "event" | "trait" | "identity" | "commitment" | "preference" | "constraint" | "location";
        /** @description A fact with its evidence. */
        FactView: {
            /** @description The question of another speaker that the first quote answers, with its source. */
            asked?: [
                components["schemas"]["ItemId"],
                string
            ] | null;
            /**
             * Format: double
             * @description Confidence, 0 to 1, independent of any query.
             */
            confidence_base: number;
            /** @description Its path in the core document. */
            core_path?: string | null;
            /** @description The broad subject area: work, health, … */
            domain: string;
            /**
             * Format: uint64
             * @description The event that made it.
             */
            event_seq: number | null;
            /** @description The evidence. Empty only if it was entered by hand: then the event that recorded it is the evidence. */
            evidence: components["schemas"]["Evidence"][];
            /**
             * Format: date-time
             * @description When it was first said.
             */
            first_seen?: string | null;
            /**
             * Format: uint64
             * @description Number of hits.
             */
            hits: number;
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /**
             * Format: double
             * @description Intrinsic importance, 0 to 1.
             */
            intrinsic_importance: number;
            /**
             * Format: date-time
             * @description Time of the last hit.
             */
            last_hit_at?: string | null;
            /**
             * Format: date-time
             * @description When it was last said.
             */
            last_seen?: string | null;
            /** @description Links to other items. */
            links?: components["schemas"]["Link"][];
            /** @description The value. */
            object: string;
            /** @description The predicate. */
            predicate: string;
            /** @description True if it was promoted to the profile. */
            promoted?: boolean;
            /** @description Qualifiers: `frequency`, `since`, … */
            qualifiers?: {
                [key: string]: string;
            };
            /** @description Quotes with their sources. */
            quotes: [
                components["schemas"]["ItemId"],
                string
            ][];
            /**
             * Format: uint32
             * @description How often it was said.
             */
            seen_count?: number;
            /** @description True if the slot holds one value at a time. */
            single?: boolean;
            /** @description Subject, predicate and key in one: of the facts in a slot that holds one value, at most one is active. */
            slot: string;
            /** @description Kind of the source. */
            source: components["schemas"]["SourceKind"];
            /** @description Its sources. */
            source_ids: components["schemas"]["ItemId"][];
            /** @description Its status. */
            status: components["schemas"]["FactStatus"];
            /** @description The subject: `user` or a name. */
            subject: string;
            /** @description The fact that replaced it. */
            superseded_by?: components["schemas"]["ItemId"] | null;
            /** @description Free tags. */
            tags?: string[];
            /** @description The claim as a sentence. */
            text: string;
            /** @description How long it is expected to hold. */
            time_span: components["schemas"]["TimeSpan"];
            /** @description The narrow subject area. */
            topic?: string | null;
            /** @description The least trust of its sources. */
            trust: components["schemas"]["Trust"];
            /** @description Its type. */
            type: components["schemas"]["FactType"];
            /**
             * Format: uint8
             * @description Score set by the user, 0 to 10.
             */
            user_fact_score?: number | null;
            /**
             * Format: date-time
             * @description Start of validity; unknown stays unknown.
             */
            valid_from?: string | null;
            /**
             * Format: date-time
             * @description End of validity.
             */
            valid_to?: string | null;
        };
        /** @description A page of a list. */
        FactViewPage: {
            /** @description The entries. */
            items: components["schemas"]["FactView"][];
            /** @description Value of `after` for the next page; null on the last. */
            next: string | null;
            /**
             * Format: uint
             * @description Number of entries on all pages.
             */
            total: number;
        };
        Fault: {
            detail: string;
            error: {
                code: string;
                confirm?: string;
                message: string;
                param: string | null;
                preview?: components["schemas"]["Announcement"];
                request_id: string | null;
                retryable: boolean;
                type: string;
            };
        };
        /** @description Target and last version of a fork. */
        ForkRequest: {
            /** @description Last shared version: a position, a time or a date. Defaults to now. */
            at?: (string) | null;
            /** @description A user without a memory. */
            into: string;
        };
        /** @description `GLOBAL_MEMORY.json`. */
        GlobalMemory: {
            /** @description Recently active topics, latest first. */
            active_topics: components["schemas"]["TopicSnapshot"][];
            /** @description Facts that must not be forgotten, by tier, then by type. */
            do_not_forget: components["schemas"]["FactGroup"][];
            /** @description Notes, best supported first. */
            notes?: components["schemas"]["NoteLine"][];
            /** @description `global_memory.v1`. */
            schema: string;
            /** @description Tenets the user confirmed, without those already listed in `do_not_forget`. */
            tenets?: components["schemas"]["TenetLine"][];
            /**
             * Format: uint
             * @description Number of topics.
             */
            topics: number;
            /** @description The user whose memory it is. */
            user: components["schemas"]["UserId"];
        };
        /** @description Kind of a proposal. */
        GrowthSubject: "folded" | "promoted" | "demoted" | "outdated" | "noted" | "seconded" | "pruned" | "proposed";
        /** @description A file of another system to import. One of `text` and `base64` is required. */
        ImportRequest: {
            /** @description The file in base64, if it is an archive. */
            base64?: string | null;
            /** @description Import this conversation only. */
            conversation?: string | null;
            /** @description Order of day and month in dates. */
            date_order?: components["schemas"]["DateOrder"] | null;
            /**
             * @description Report the effect without recording anything.
             * @default false
             */
            dry_run?: boolean;
            /**
             * @description `chatgpt`, `claude`, `openai`, `mem0`, `memory-jsonl`, `whatsapp`, `telegram`, `markdown`, `text`, `locomo`,
             *     `longmemeval`; documents: `html`, `docx`, `epub`, `pdf`, `mbox`; `bundle` creates a memory from a signed ledger.
             */
            format: string;
            /** @description Which author is the user, in a chat between people: the words of the others are not the user's own. */
            me?: string | null;
            /**
             * @description Treat messages of people as the user's own words.
             * @default false
             */
            mine?: boolean;
            /** @description File name. It names the import and conversations without a name. */
            name?: string | null;
            /** @description The file, if it is text. */
            text?: string | null;
            /** @description Time zone of local times in the file: `Europe/Lisbon`, `+02:00`. */
            timezone?: string | null;
            /**
             * @description Store the texts without extracting facts.
             * @default false
             */
            words_only?: boolean;
        };
        /** @description Report of an import, or the receipt of a restored ledger. */
        ImportResult: components["schemas"]["IngestReport"] | {
            public_key: string;
            restored: components["schemas"]["RestoredLedger"];
        };
        /** @description Something that was skipped or repaired. */
        IngestNotice: {
            /** @description Place in the input. */
            place: string;
            /** @description What was wrong, and what was done. */
            reason: string;
        };
        /** @description Result of an import. */
        IngestReport: {
            /** @description People who wrote in it, by name, in the order in which they first appear; at most 50. */
            authors: string[];
            /** @description One report per conversation. */
            conversations: components["schemas"]["ConversationReport"][];
            /** @description True if nothing was recorded (dry run). */
            dry_run: boolean;
            /**
             * Format: uint64
             * @description Facts extracted.
             */
            facts: number;
            /** @description What was left out, counted by reason. */
            left_out: {
                [key: string]: number;
            };
            /** @description What was skipped or repaired. */
            notices: components["schemas"]["IngestNotice"][];
            /**
             * Format: uint64
             * @description Number of further notices.
             */
            notices_more: number;
            /**
             * Format: uint64
             * @description Sources from which secrets were redacted.
             */
            redacted: number;
            /** @description Reference of the import; revert by it to undo the import. */
            reference: string;
            /**
             * Format: uint64
             * @description Candidates rejected by the gate.
             */
            refused: number;
            /** @description The error that stopped the import, if any. */
            stopped_by: string | null;
            /**
             * Format: uint64
             * @description Reviews opened.
             */
            waiting: number;
        };
        /** @description The purpose of the answer. */
        Intent: "plan" | "reflect" | "recall" | "decide" | "nudge";
        /** @description How an item differs. */
        ItemChange: {
            /** @constant */
            change: "added";
            /** @description The item. */
            id: components["schemas"]["ItemId"];
            /** @description The start of its text. */
            text: string;
        } | {
            /** @constant */
            change: "removed";
            /** @description The item. */
            id: components["schemas"]["ItemId"];
            /** @description The start of its text. */
            text: string;
        } | {
            /** @description Its later status. */
            after: string;
            /** @description Its earlier status. */
            before: string;
            /** @constant */
            change: "changed";
            /** @description The item. */
            id: components["schemas"]["ItemId"];
            /** @description The start of its text. */
            text: string;
        } | {
            /** @description After. */
            after: components["schemas"]["ItemMarks"];
            /** @description Before. */
            before: components["schemas"]["ItemMarks"];
            /** @constant */
            change: "marked";
            /** @description The item. */
            id: components["schemas"]["ItemId"];
        };
        /** @description Receipts of the recorded changes. */
        ItemChangeReceipts: {
            receipts: components["schemas"]["Receipt"][];
        };
        /** @description Changes of an item. One of `pinned`, `rating` and `user_fact_score` or a `text` is required. */
        ItemChangeRequest: {
            /** @description Pin or unpin the item. */
            pinned?: boolean | null;
            /**
             * Format: int8
             * @description Rating from -2 to 2; 0 removes the rating.
             */
            rating?: number | null;
            /** @description New text in the user's own words, without other changes. The history keeps the earlier text. */
            text?: string | null;
            /**
             * Format: uint8
             * @description Importance of a fact to the user, 0 to 10.
             */
            user_fact_score?: number | null;
        } & (({
            text: unknown;
        } & {
            pinned?: null;
            rating?: null;
            user_fact_score?: null;
        }) | ({
            text?: null;
        } | {
            pinned: unknown;
        } | {
            rating: unknown;
        } | {
            user_fact_score: unknown;
        }));
        /** @description An item of any kind with the events that concern it. */
        ItemHistory: {
            /** @description The events that concern it, oldest first. */
            events: components["schemas"]["LogEntry"][];
            /**
             * Format: uint64
             * @description Number of hits.
             */
            hits: number;
            /** @description The item. */
            id: components["schemas"]["ItemId"];
            /** @description The complete item as JSON. */
            item: components["schemas"]["ItemInFull"];
            /** @description Its kind. */
            kind: components["schemas"]["ItemKind"];
            /**
             * Format: date-time
             * @description Time of the last hit.
             */
            last_hit_at?: string | null;
            /** @description Quotes with their sources. */
            quotes: [
                components["schemas"]["ItemId"],
                string
            ][];
            /** @description Its status. */
            standing: string;
            /** @description Its text. */
            text: string;
        };
        /** @description Id of an item: its kind, an underscore and 13 digits of Crockford's base 32. */
        ItemId: string;
        /** @description An item in full: its fields depend on its kind. */
        ItemInFull: components["schemas"]["SourceItem"] | components["schemas"]["FactView"] | components["schemas"]["Episode"] | components["schemas"]["Task"] | components["schemas"]["Note"] | components["schemas"]["Tenet"] | components["schemas"]["Review"] | components["schemas"]["BaseTruthEntry"];
        /** @description Kind of an item. */
        ItemKind: "turn" | "entry" | "document" | "import" | "fact" | "episode" | "task" | "note" | "tenet" | "review" | "truth";
        /** @description A person's marks on an item. */
        ItemMarks: {
            /** @description True if it is pinned. */
            pinned: boolean;
            /**
             * Format: int8
             * @description Rating from −2 to 2; 0 without one.
             */
            rating: number;
        };
        /** @description An item and what happened to it. */
        ItemOutcome: {
            /** @description The item. */
            id: components["schemas"]["ItemId"];
            /** @description Its text. */
            text: string;
            /** @description What happened, in a few words. */
            what: string;
        };
        /** @description An item of any kind. */
        ItemView: {
            /**
             * Format: uint64
             * @description Number of hits.
             */
            hits: number;
            /** @description The item. */
            id: components["schemas"]["ItemId"];
            /** @description The complete item as JSON. */
            item: components["schemas"]["ItemInFull"];
            /** @description Its kind. */
            kind: components["schemas"]["ItemKind"];
            /**
             * Format: date-time
             * @description Time of the last hit.
             */
            last_hit_at?: string | null;
            /** @description Pin and rating. */
            marks: components["schemas"]["ItemMarks"];
            /** @description Quotes with their sources. */
            quotes: [
                components["schemas"]["ItemId"],
                string
            ][];
            /** @description Its status. */
            standing: string;
            /** @description Its text. */
            text: string;
        };
        /** @description A JSON Patch (RFC 6902). */
        JsonPatch: components["schemas"]["JsonPatchOperation"][];
        /** @description One operation of a JSON Patch. Paths are JSON Pointers (RFC 6901). */
        JsonPatchOperation: {
            /** @enum {string} */
            op: "add" | "replace" | "test";
            path: string;
            /** @description Any JSON value. */
            value: unknown;
        } | {
            from: string;
            /** @enum {string} */
            op: "move" | "copy";
            path: string;
        } | {
            /** @constant */
            op: "remove";
            path: string;
        };
        /** @description A key without its secret. */
        Key: {
            /**
             * Format: date-time
             * @description Time of creation.
             */
            created_at: string;
            /** @description The public part of the key. */
            id: string;
            /** @description The name given at creation. */
            name: string;
            /**
             * Format: date-time
             * @description Time of revocation, if revoked.
             */
            revoked_at: string | null;
            /** @description Operations the key permits. */
            scopes: components["schemas"]["Scope"][];
            /** @description The only user whose data the key gives access to. `None` means all users. */
            user_id: components["schemas"]["UserId"] | null;
        };
        /** @description What an erasure in an encrypted store did with the user's keys. */
        KeyErasure: {
            /**
             * Format: uint64
             * @description Changes that were sealed again with the user's new key.
             */
            changes_resealed: number;
            /**
             * Format: uint64
             * @description Keys that were destroyed afterwards.
             */
            keys_destroyed: number;
            /** @description What is unreadable now, and when that is final. */
            unreadable: string;
        };
        /** @description All keys, without secrets. */
        KeyList: {
            items: components["schemas"]["Key"][];
            /**
             * @deprecated
             * @description The same under an older name. Use `items`.
             */
            keys: components["schemas"]["Key"][];
        };
        /**
         * @description Scope of a key.
         * @enum {string}
         */
        KeyScope: "read" | "write" | "review" | "admin";
        /** @description A deviation from what was written. */
        LedgerDamage: {
            /**
             * Format: uint32
             * @description Index of the change, if one is damaged.
             */
            change: number | null;
            /** @description The reason. */
            reason: string;
            /**
             * Format: uint64
             * @description The position of the event.
             */
            seq: number;
        };
        /** @description A sparse connection from one item to another. */
        Link: {
            /** @description The relation: `impacts`, `about`, `same_as`. */
            rel: string;
            /** @description The other item. */
            to: components["schemas"]["ItemId"];
        };
        /** @description A link to another item. */
        LinkInput: {
            /** @description Relation: `impacts`, `about`, `same_as`. */
            rel: string;
            /** @description The other item. */
            to: string;
        };
        /** @description One event in a log. */
        LogEntry: {
            /** @description Who caused it. */
            actor: components["schemas"]["Actor"];
            /**
             * Format: uint
             * @description Changes whose payload was erased.
             */
            erased: number;
            /** @description Hash of the event. */
            hash: string;
            /**
             * Format: uuid
             * @description Id of the event.
             */
            id: string;
            /** @description The recorded reason. */
            rationale: string | null;
            /**
             * Format: date-time
             * @description Time of recording.
             */
            recorded_at: string;
            /** @description The import, file or message. */
            reference: string | null;
            /**
             * Format: uint64
             * @description Position of the event.
             */
            seq: number;
            /** @description Kind of the source. */
            source: components["schemas"]["SourceKind"];
            /** @description Whether it counts. */
            standing: components["schemas"]["EventStatus"];
            /** @description Short summary of its changes. */
            summary: string;
            /** @description Trust of the source. */
            trust: components["schemas"]["Trust"];
        };
        /** @description Items to merge. */
        MergeRequest: {
            /** @description Items to merge into `into`. */
            from: string[];
            /** @description The item that remains. */
            into: string;
        };
        /**
         * @description Role of a speaker.
         * @enum {string}
         */
        MessageRole: "user" | "assistant" | "system" | "tool";
        /** @description One move. */
        MovedPath: {
            /** @description The old pointer. */
            from: string;
            /** @description The new pointer. */
            to: string;
        };
        /** @description A date named in a question. Without a year it means that day or month of every year. */
        NamedDate: {
            day: {
                /**
                 * Format: int8
                 * @description 1 to 31, valid in that month.
                 */
                day: number;
                /**
                 * Format: int8
                 * @description 1 to 12.
                 */
                month: number;
                /**
                 * Format: int16
                 * @description 1 to 9999, if stated.
                 */
                year: number | null;
            };
        } | {
            month: {
                /**
                 * Format: int8
                 * @description 1 to 12.
                 */
                month: number;
                /**
                 * Format: int16
                 * @description 1 to 9999, if stated.
                 */
                year: number | null;
            };
        } | {
            year: {
                /**
                 * Format: int16
                 * @description 1 to 9999.
                 */
                year: number;
            };
        };
        /** @description Negation and exclusions in a question. */
        Negation: {
            /** @description What it excludes, as written: "Anna" in "who besides Anna". */
            besides: string[];
            /** @description True if it asks for what is not so; the opposite predicate is meant. */
            denied: boolean;
            /** @description True if it asks for a past state. */
            over: boolean;
        };
        /** @description A new key. The secret is not stored anywhere else. */
        NewKey: {
            /**
             * Format: date-time
             * @description Time of creation.
             */
            created_at: string;
            /** @description The public part of the key. */
            id: string;
            /** @description The complete key, to be shown once. */
            key: string;
            /** @description The name given at creation. */
            name: string;
            /**
             * Format: date-time
             * @description Time of revocation, if revoked.
             */
            revoked_at: string | null;
            /** @description Operations the key permits. */
            scopes: components["schemas"]["Scope"][];
            /** @description The only user whose data the key gives access to. `None` means all users. */
            user_id: components["schemas"]["UserId"] | null;
        };
        /** @description A key to create. */
        NewKeyRequest: {
            /** @description Name of the key. */
            name: string;
            scopes: components["schemas"]["KeyScope"][];
            /** @description Restrict the key to this user. Defaults to all users. */
            user_id?: string | null;
        };
        /** @description One insight. */
        Note: {
            /**
             * Format: double
             * @description Confidence, 0 to 1.
             */
            confidence_base: number;
            /** @description The evidence. */
            evidence?: components["schemas"]["Evidence"][];
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description The author. */
            origin: components["schemas"]["NoteOrigin"];
            /** @description Free tags. */
            tags?: string[];
            /** @description The insight. */
            text: string;
            /** @description Its trust. */
            trust: components["schemas"]["Trust"];
            /**
             * Format: uint32
             * @description Number of others who agreed.
             * @default 0
             */
            votes: number;
        };
        /** @description A note. */
        NoteInput: {
            /** @description Confidence, 0 to 1. */
            confidence_base?: number | null;
            /**
             * @description Origin. The default follows from the writer.
             * @enum {string|null}
             */
            origin?: "model_reflection" | "human_feedback" | "rule" | null;
            /**
             * @description Free-form tags.
             * @default []
             */
            tags?: string[];
            text: string;
        };
        /** @description A note. */
        NoteLine: {
            /** @description True if somebody besides its author agreed. */
            agreed: boolean;
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description The insight. */
            text: string;
            /** @description The topic's folder. */
            topic: string;
            /** @description The display name of the topic. */
            topic_name: string;
        };
        /** @description Author of a note. */
        NoteOrigin: "model_reflection" | "human_feedback" | "rule";
        /** @description A page of a list. */
        NotePage: {
            /** @description The entries. */
            items: components["schemas"]["Note"][];
            /** @description Value of `after` for the next page; null on the last. */
            next: string | null;
            /**
             * Format: uint
             * @description Number of entries on all pages.
             */
            total: number;
        };
        /** @description A note about the person. */
        NoteRow: {
            /** @description True if somebody besides its author agreed. */
            agreed: boolean;
            /** @description True if it was retracted. */
            gone?: boolean;
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description True if the user pinned it. */
            pinned?: boolean;
            /** @description Free tags: `strategy`, `pitfall`, `insight`. */
            tags?: string[];
            /** @description The insight. */
            text: string;
            /**
             * Format: uint32
             * @description Number of others who agreed.
             */
            votes: number;
        };
        /** @description Why an item was not returned. */
        OmissionReason: "below_the_best" | "no_evidence";
        /** @description A scored item that was not returned. */
        OmittedAnswer: {
            /** @description Contribution of each feature. */
            contributions: components["schemas"]["Contributions"];
            /** @description The item. */
            id: components["schemas"]["ItemId"];
            /** @description Why it was not returned. */
            reason: components["schemas"]["OmissionReason"];
            /**
             * Format: float
             * @description Its score.
             */
            score: number;
            /** @description The start of its text. */
            text: string;
        };
        /** @description An item that was scored but not returned. */
        OmittedPassage: {
            /** @description The arms that nominated it. */
            arms: components["schemas"]["RecallArm"][];
            /** @description The contributions to its score. */
            contributions: components["schemas"]["Contributions"];
            /**
             * Format: uint32
             * @description Its position in the memory's list of sources.
             */
            ordinal: number;
            /** @description Why it was not returned. */
            reason: components["schemas"]["OmissionReason"];
            /**
             * Format: float
             * @description The score of its best passage.
             */
            score: number;
        };
        /** @description An event that no longer applies. */
        Orphan: {
            /**
             * Format: uint32
             * @description Index of its first change that did not apply.
             */
            change: number;
            /** @description The reason. */
            reason: string;
            /**
             * Format: uint64
             * @description Its position.
             */
            seq: number;
        };
        /** @description A line of the pack with the item it represents. */
        PackLine: {
            /** @description Other items the line covers: statements read from the quotation, or the quotation a statement repeats. */
            also: components["schemas"]["ItemId"][];
            /** @description The item: the source if its quotation is shown. */
            id: components["schemas"]["ItemId"];
            /** @description Its kind: `turn`, `fact`, `ep` … */
            kind: string;
            /** @description The mark in brackets before it. */
            mark: string;
            /**
             * Format: date-time
             * @description Time of the statement.
             */
            said_at: string | null;
            /** @description Byte range of the quotation in the item. */
            span?: components["schemas"]["Span"] | null;
            /** @description The speaker, or the subject of a fact. */
            speaker: string;
            /** @description The text of the line. */
            text: string;
            /** @description Trust of its source. */
            trust: components["schemas"]["Trust"];
        };
        /** @description Statistics of a section. */
        PackSection: {
            /**
             * Format: uint
             * @description Number of its lines.
             */
            lines: number;
            /** @description Its heading. */
            title: string;
            /**
             * Format: uint
             * @description Tokens it costs.
             */
            tokens: number;
        };
        /** @description One difference. */
        PathChange: {
            /** @description The value after; omitted if there is none. */
            after?: unknown;
            /** @description The value before; omitted if there was none. */
            before?: unknown;
            /** @description JSON Pointer in the later document, or in the earlier one for a removal. */
            path: string;
        };
        /** @description A review for display. */
        PendingReview: {
            /** @description The item it is about; the review itself if there is no such item yet. */
            about: components["schemas"]["ItemId"];
            /** @description The opposing item of a conflict. */
            against?: components["schemas"]["ItemId"] | null;
            /** @description The decision and its event. */
            decided?: [
                components["schemas"]["ReviewDecision"],
                number
            ] | null;
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description Its kind. */
            kind: components["schemas"]["ReviewKind"];
            /**
             * Format: date-time
             * @description When it was opened.
             */
            opened_at?: string | null;
            /** @description The effect of a proposed promotion on the current document. */
            preview?: components["schemas"]["PromotionPreview"] | null;
            /** @description The proposed category. */
            promotion?: components["schemas"]["Promotion"] | null;
            /** @description The change proposed by a manual edit. */
            proposed?: components["schemas"]["ProposedEdit"] | null;
            /** @description Who proposed it; never the one who decides. */
            proposer: components["schemas"]["Actor"];
            /** @description The question to the user. */
            question: string;
            /** @description Quotes of the evidence with their sources. */
            quotes: [
                components["schemas"]["ItemId"],
                string
            ][];
            /** @description Why the rules did not decide. */
            reason: string;
            /** @description The active statement that would give way if this were approved now, in one line. */
            rival: string | null;
            /** @description The item it is about, in one line. */
            text: string;
        };
        /** @description A page of a list. */
        PendingReviewPage: {
            /** @description The entries. */
            items: components["schemas"]["PendingReview"][];
            /** @description Value of `after` for the next page; null on the last. */
            next: string | null;
            /**
             * Format: uint
             * @description Number of entries on all pages.
             */
            total: number;
        };
        /** @description A fact that must not be forgotten. */
        PermanentFact: {
            /**
             * Format: double
             * @description Confidence, 0 to 1.
             */
            confidence: number;
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description The claim. */
            text: string;
            /** @description The topic's folder. */
            topic: string;
            /** @description The display name of the topic. */
            topic_name: string;
            /**
             * Format: uint8
             * @description The score set by the user.
             */
            user_fact_score?: number | null;
        };
        /** @description Result of a pick. */
        PickReceipt: {
            /** @description Chosen events that were omitted, and why. */
            left_out: [
                number,
                string
            ][];
            /** @description The events appended. */
            receipts: components["schemas"]["Receipt"][];
        };
        /** @description Events to replay into another memory. */
        PickRequest: {
            events: (number | string)[];
            /** @description User of the other memory. */
            into: string;
        };
        /** @description The result for a pin. */
        PinOutcome: {
            /** @description True if the ledger still has the pinned hash there. */
            holds: boolean;
            /** @description The reason if it does not. */
            reason: string | null;
            /**
             * Format: uint64
             * @description The pinned position.
             */
            seq: number;
        };
        /** @description Result of a promotion. */
        PromoteReport: {
            /** @description True if nothing was recorded. */
            dry_run: boolean;
            /**
             * Format: uuid
             * @description Id of the event.
             */
            event_id?: string;
            /** @description Hash of the event; pin it to detect tampering later. */
            hash?: string;
            /** @description Items it recorded. */
            items?: components["schemas"]["ItemId"][];
            /** @description Why recall does not see all of it yet, if a step after the append failed. */
            lag?: string | null;
            /** @description What moves; `None` for a repeated request. */
            preview: components["schemas"]["PromotionPreview"] | null;
            /** @description What was promoted; `None` for a repeated request whose promotion no longer counts. */
            promotion: components["schemas"]["Promotion"] | null;
            /** @description Kinds of secrets that were redacted before storing. */
            redacted?: string[];
            /** @description True if the same request was recorded before and nothing was appended now. */
            replayed?: boolean;
            /**
             * Format: uint64
             * @description Position of the event.
             */
            seq?: number;
            /** @description Exchanges of its session that were summarised. */
            summarized?: components["schemas"]["SummarizedTurn"][];
            /** @description What was extracted from it, if an extractor ran. */
            understood?: components["schemas"]["Understanding"];
            /**
             * Format: uint64
             * @description Version of the memory that contains the event and what followed from it.
             */
            version?: number;
        };
        /** @description A pattern to turn into a category. */
        PromoteRequest: {
            /** @description Key of the proposed pattern. */
            candidate: string;
            /**
             * @description Report the effect without recording anything.
             * @default false
             */
            dry_run?: boolean;
            /** @description Name of the category. Defaults to the proposed one. */
            proposedName?: string | null;
            /** @description The reason, stored with the event. */
            rationale?: string | null;
        };
        /** @description The promotion of a pattern to a category. The patches of the same event move its members. */
        Promotion: {
            /** @description The pattern: a term or key of `uncategorized`, or the name of a dynamic category. */
            candidate: string;
            /** @description The description of the category. */
            description: string;
            /** @description Proposed fields by member, only while the review waits. Members without one follow the rules. */
            fields?: {
                [key: string]: string;
            };
            /** @description The category; an existing one is extended. */
            name: string;
            /** @description The reason. */
            rationale: string;
            /** @description The support. */
            support: components["schemas"]["PromotionSupport"];
        };
        /** @description The effect of a promotion on the document. */
        PromotionPreview: {
            /** @description The category after the promotion. */
            category: unknown;
            /** @description The values that move. */
            moves: components["schemas"]["MovedPath"][];
        };
        /** @description The support of a pattern: number of instances, days and episodes, and the period. */
        PromotionSupport: {
            /**
             * Format: uint32
             * @description Number of days with an instance.
             */
            days: number;
            /**
             * Format: date-time
             * @description The first instance.
             */
            first_seen?: string | null;
            /**
             * Format: uint32
             * @description Number of instances written or said.
             */
            instances: number;
            /**
             * Format: date-time
             * @description The last instance.
             */
            last_seen?: string | null;
            /**
             * Format: uint32
             * @description Number of episodes about it.
             * @default 0
             */
            links: number;
        };
        /** @description The change proposed by a manual edit of a page. */
        ProposedEdit: {
            value: {
                /** @description The new value. */
                object: string;
            };
        } | {
            score: {
                /**
                 * Format: uint8
                 * @description From 0 to 10.
                 */
                score: number;
            };
        } | "gone" | {
            said: {
                /** @description The fact it replaces. */
                instead_of?: components["schemas"]["ItemId"] | null;
                /** @description The statement. */
                text: string;
            };
        };
        /** @description A term of the question. */
        QueryTerm: {
            /**
             * Format: float
             * @description Its weight: `ln(1 + (N − df + ½) / (df + ½))`.
             */
            idf: number;
            /**
             * Format: uint32
             * @description Number of passages that contain it.
             */
            passages: number;
            /** @description The stem. */
            term: string;
        };
        /** @description A quote from a source. */
        Quote: {
            /** @description The source. */
            id: components["schemas"]["ItemId"];
            /**
             * Format: date-time
             * @description Time of the message.
             */
            said_at: string | null;
            /** @description The speaker. */
            speaker: string;
            /** @description The quoted text. */
            text: string;
        };
        /** @description Readiness of the server. */
        Readiness: {
            /** @description The database server behind the store; null if the store is a folder. */
            database: components["schemas"]["DatabaseState"] | null;
            ready: boolean;
            /** @description Why the server is not ready. */
            reason: string | null;
            /** @description Name of this server. */
            server: string;
            /** @description Kind of a background step that has stopped making progress. */
            stalled: string | null;
            /** @description `ok`, or the error of the store. */
            store: string;
            /**
             * Format: int64
             * @description Number of turns waiting to be recorded.
             */
            turns_waiting: number;
        };
        /** @description A way of nominating passages. */
        RecallArm: "all" | "dense" | "words" | "neighbours" | "date" | "sessions" | "evidence";
        /** @description Details of the search. */
        RecallDebug: {
            left_out: components["schemas"]["OmittedAnswer"][];
            scores: components["schemas"]["RecallScore"][];
            trace?: components["schemas"]["RecallTrace"] | null;
        };
        /** @description Whether the memory answers a question. */
        RecallDecision: {
            /** @description True if the best hit is about somebody else than the question. */
            of_another: boolean;
            /**
             * Format: double
             * @description The probability that the hits answer the question, calibrated by `quipu eval calibrate`.
             */
            probability: number;
            /** @description A question to ask the user, if the verdict is to ask. */
            question?: string | null;
            /** @description Why, in words. */
            reason: string;
            /** @description The inputs of the probability. */
            signals: components["schemas"]["AnswerSignals"];
            /** @description What to do. */
            verdict: components["schemas"]["Verdict"];
        };
        /** @description A question to the memory. */
        RecallRequest: {
            /**
             * Format: uint
             * @description Number of items. Defaults to 16.
             */
            K?: number | null;
            /** @description The goal the question serves. */
            active_goal?: string | null;
            /** @description Answer from this version: a position, a time or a date. Defaults to now. */
            as_of?: (string) | null;
            /**
             * Format: uint
             * @description Token budget of the items, estimated.
             */
            budget?: number | null;
            /**
             * @description Include the trace of the search.
             * @default false
             */
            explain?: boolean;
            /**
             * @description Purpose of the answer: `plan`, `reflect`, `recall`, `decide` or `nudge`.
             * @enum {string|null}
             */
            intent?: "plan" | "reflect" | "recall" | "decide" | "nudge" | null;
            /** @description The question. */
            query: string;
            /** @description Search this session only. */
            session_id?: string | null;
            /** @description User whose memory it is. Defaults to the user of the key, then of the server. */
            user_id?: string | null;
            /** @description Answer from what was true at this time. */
            valid_at?: (string) | null;
        };
        /** @description Items found, by tier, best first. */
        RecallResult: {
            debug: components["schemas"]["RecallDebug"];
            /** @description Whether the memory answers the question. */
            decision: components["schemas"]["RecallDecision"];
            /** @description What recall had to do without, for example vectors. Null if nothing was missing. */
            degraded: string | null;
            /** @description Episodes and messages. */
            episodic: components["schemas"]["Answer"][];
            /** @description Facts. */
            profile: components["schemas"]["Answer"][];
            /** @description Notes and lines of the self-model. */
            reflective: components["schemas"]["Answer"][];
            tasks: components["schemas"]["Answer"][];
            /**
             * Format: uint64
             * @description Version of the memory that answered.
             */
            version: number;
        };
        /** @description The score of an item and its parts. */
        RecallScore: {
            contributions: components["schemas"]["Contributions"];
            id: components["schemas"]["ItemId"];
            /** Format: float */
            score: number;
        };
        /** @description The stages of one recall. Counts are always present, lists only with an explanation. */
        RecallTrace: {
            /**
             * Format: uint
             * @description Number of passages that pass the filter.
             */
            allowed: number;
            /** @description Number of passages nominated by each arm. */
            arms: components["schemas"]["ArmCount"][];
            /**
             * Format: uint
             * @description Number of passages whose tokens were compared with the question's; 0 if the model provides none.
             */
            compared: number;
            /** @description True if an item outside the active index matches the question's words better than any in it. */
            deeper?: boolean;
            /** @description True if the question had a vector that fits this index. */
            dense: boolean;
            /**
             * Format: uint
             * @description Number of derived items.
             */
            derived: number;
            /**
             * Format: uint
             * @description Number of derived items scored.
             */
            derived_scored: number;
            /** @description The explanation, if requested. */
            detail: components["schemas"]["RecallTraceDetail"] | null;
            /** @description True if the active index had no confident answer, so that everything was searched. */
            fell_back?: boolean;
            /**
             * Format: uint
             * @description Number of passages in the index.
             */
            passages: number;
            /**
             * Format: uint
             * @description Number of passages scored in full.
             */
            scored: number;
            /**
             * Format: uint
             * @description Number of passages without a vector; their cosine counts as 0.
             */
            without_vector: number;
        };
        /** @description The explanation of a recall. */
        RecallTraceDetail: {
            /** @description The person in question, by each name. */
            about: string[];
            /** @description The dates it names. */
            dates: components["schemas"]["NamedDate"][];
            /** @description Names in the question. */
            entities: string[];
            /** @description The text compared by vectors. */
            first_person_text: string;
            /** @description Its intent. */
            intent: components["schemas"]["Intent"];
            /** @description The time intervals it names. */
            intervals: components["schemas"]["DateInterval"][];
            /** @description The best items that were not returned, best first. */
            left_out: components["schemas"]["OmittedPassage"][];
            /** @description Its negation and exclusions. */
            negation: components["schemas"]["Negation"];
            /** @description The author the question names, if exactly one. */
            speaker: string | null;
            /** @description The terms searched for. */
            terms: components["schemas"]["QueryTerm"][];
            /** @description The time for which statements are requested. */
            validity: components["schemas"]["Validity"];
        };
        /** @description Proof that an event is durable. */
        Receipt: {
            /**
             * Format: uuid
             * @description Id of the event.
             */
            event_id: string;
            /** @description Hash of the event; pin it to detect tampering later. */
            hash: string;
            /** @description Items it recorded. */
            items: components["schemas"]["ItemId"][];
            /** @description Why recall does not see all of it yet, if a step after the append failed. */
            lag: string | null;
            /** @description Kinds of secrets that were redacted before storing. */
            redacted?: string[];
            /** @description True if the same request was recorded before and nothing was appended now. */
            replayed: boolean;
            /**
             * Format: uint64
             * @description Position of the event.
             */
            seq: number;
            /** @description Exchanges of its session that were summarised. */
            summarized?: components["schemas"]["SummarizedTurn"][];
            /** @description What was extracted from it, if an extractor ran. */
            understood?: components["schemas"]["Understanding"];
            /**
             * Format: uint64
             * @description Version of the memory that contains the event and what followed from it.
             */
            version: number;
        };
        /** @description A refused change. */
        RefusedEntry: {
            /** @description Its kind. */
            op: components["schemas"]["DiffOp"];
            /** @description The reason. */
            reason: string;
            /** @description Its text, only if it occurs in the exchange: other text may have another origin and is not stored. */
            text?: string | null;
        };
        /** @description A refused candidate. */
        Rejection: {
            /** @description Its text. */
            item: string;
            /** @description The reason. */
            reason: string;
        };
        /** @description A pack that was built again. */
        ReproducedPack: {
            /** @description The results for the question, as one block; may be empty. */
            changing: string;
            /** @description Ids of the items in it, in order. */
            citations: components["schemas"]["ItemId"][];
            /** @description The tokenizer they were counted with; set by the caller. */
            counted_by: string;
            /** @description Its id, from which it can be rebuilt; assigned by the caller. */
            id: string;
            /** @description True if it is identical, byte for byte. */
            identical: boolean;
            /** @description The intent it was built for. */
            intent: components["schemas"]["Intent"];
            /** @description Its lines that represent items, in order. */
            lines: components["schemas"]["PackLine"][];
            /** @description What the request needed from memory. */
            need: components["schemas"]["RequestNeed"];
            /** @description Ids of items that were found but omitted, best first. */
            omitted: components["schemas"]["ItemId"][];
            /** @description Paths of the core document that were omitted. */
            omitted_paths: string[];
            /** @description Its sections, in order. */
            sections: components["schemas"]["PackSection"][];
            /**
             * @description What must never be forgotten and the description of the user, as one block. The same for every question; may be
             *     empty.
             */
            stable: string;
            /** @description The blocks for the prompt: `stable`, then `changing`. */
            text: string;
            /**
             * Format: uint
             * @description Tokens of `text`.
             */
            tokens: number;
        };
        /**
         * @description Author of a change.
         * @enum {string}
         */
        RequestActor: "user" | "agent" | "system" | "tool";
        /** @description What a request needs from memory. */
        RequestNeed: "nothing" | "task" | "memory" | "unknown";
        /** @description Result of a restore. */
        RestoredLedger: {
            /** @description True if nothing was written. */
            dry_run: boolean;
            /**
             * Format: uint64
             * @description Number of events.
             */
            events: number;
            /** @description Hash of the newest event, as before. */
            head_hash: string;
            /** @description Where the previous ledger was moved to. */
            set_aside?: string | null;
            /** @description The user. */
            user_id: components["schemas"]["UserId"];
        };
        /** @description An item to retract. */
        RetractRequest: {
            item_id: string;
            /** @description The reason, stored with the event. */
            reason?: string | null;
        };
        /** @description What a revert would do. */
        RevertPreview: {
            /** @description How the memory would differ. Its new orphans are the events that do not apply without the reverted ones. */
            difference: components["schemas"]["Difference"];
            /** @description The events that would no longer count. */
            events: number[];
            /** @description Results of the probes. */
            probes: components["schemas"]["RevertProbe"][];
            /** @description Events that depend on them in part; their other statements would be recorded again. */
            restored: number[];
        };
        /** @description The answer to a question before and after a revert. */
        RevertProbe: {
            /** @description The first answer after the revert. */
            after: [
                string,
                string
            ] | null;
            /** @description The first answer now: item and text. */
            before: [
                string,
                string
            ] | null;
            /** @description The question. */
            query: string;
        };
        /** @description Events to revert: one of `events`, `source`, `session` and `since`. */
        RevertRequest: {
            /**
             * @description Report the effect without recording anything.
             * @default false
             */
            dry_run?: boolean;
            /** @description Events by position or id. */
            events?: (number | string)[] | null;
            /**
             * @description Questions whose answers before and after are compared, with or without `dry_run`.
             * @default []
             */
            probes?: string[];
            /** @description The reason, stored with the event. */
            rationale?: string | null;
            /** @description All events of a session. */
            session?: string | null;
            /** @description All events after a version. */
            since?: ((string) | number) | null;
            /** @description All events of an import, file or message. */
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
        /** @description The receipt, or the preview of a dry run. */
        RevertResult: components["schemas"]["RevertPreview"] | {
            difference: components["schemas"]["Difference"];
            /** @description The answers to the probes before and after, if any were sent. */
            probes?: components["schemas"]["RevertProbe"][];
            receipt: components["schemas"]["Receipt"];
        };
        /** @description A waiting or decided review. */
        Review: {
            /** @description The item it is about; the review itself if there is no such item yet. */
            about: components["schemas"]["ItemId"];
            /** @description The opposing item of a conflict. */
            against?: components["schemas"]["ItemId"] | null;
            /** @description The decision and its event. */
            decided?: [
                components["schemas"]["ReviewDecision"],
                number
            ] | null;
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description Its kind. */
            kind: components["schemas"]["ReviewKind"];
            /**
             * Format: date-time
             * @description When it was opened.
             */
            opened_at?: string | null;
            /** @description The proposed category. */
            promotion?: components["schemas"]["Promotion"] | null;
            /** @description The change proposed by a manual edit. */
            proposed?: components["schemas"]["ProposedEdit"] | null;
            /** @description Who proposed it; never the one who decides. */
            proposer: components["schemas"]["Actor"];
            /** @description The question to the user. */
            question: string;
            /** @description Why the rules did not decide. */
            reason: string;
        };
        /**
         * @description Action on an entry of the review queue.
         * @enum {string}
         */
        ReviewAction: "approve" | "edit" | "decline" | "undo";
        /** @description A person's decision. */
        ReviewDecision: "approved" | {
            edited: {
                /** @description The correct value, text or name. */
                text: string;
            };
        } | "declined";
        /** @description A decision on an entry of the review queue. */
        ReviewDecisionRequest: {
            action: components["schemas"]["ReviewAction"];
            /** @description The reason, stored with the event. */
            rationale?: string | null;
            /** @description With `edit`: the correct value or line. */
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
        /** @description Kind of a review. */
        ReviewKind: "fact" | "conflict" | "tenet" | "schema_promotion" | "edit";
        /** @description Role of a speaker. */
        Role: "user" | "assistant" | "system" | "tool";
        /** @description Operations a key permits. */
        Scope: "read" | "write" | "review" | "admin";
        /** @description An episode and its score. */
        ScoredEpisode: {
            /** @description The emotion. */
            affect: components["schemas"]["Affect"];
            /** @description The broad subject area. */
            domain?: string | null;
            /**
             * Format: date-time
             * @description End of the episode.
             */
            end?: string | null;
            /** @description Facts extracted from it. */
            facts?: components["schemas"]["ItemId"][];
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /**
             * Format: uint8
             * @description From 1 to 10.
             */
            importance: number;
            /** @description The speakers, by name or role. */
            participants: string[];
            /** @description The sentences the summary was taken from, verbatim. */
            raw_excerpt: string;
            /** @description Paths of the core document it influenced. */
            related_paths?: string[];
            /**
             * Format: uint32
             * @description Importance, plus 3 for each shared topic and 4 for each shared path.
             */
            score: number;
            /** @description The sentiment. */
            sentiment: components["schemas"]["Sentiment"];
            /** @description The session. */
            session_id?: string | null;
            /** @description Its sources, in order; never empty. */
            sources: components["schemas"]["ItemId"][];
            /**
             * Format: date-time
             * @description Start of the episode.
             */
            start?: string | null;
            /** @description A few sentences. */
            summary: string;
            /** @description Free tags. */
            tags?: string[];
            /** @description A few words. */
            title: string;
            /** @description Its topics, most significant first. */
            topics: string[];
            /** @description Indices of the first and last source within the session, from 0. */
            turn_range: [
                number,
                number
            ];
        };
        /** @description Overall sentiment of an episode. */
        Sentiment: "positive" | "neutral" | "negative";
        /** @description Name and version of the server. */
        ServerVersion: {
            name: string;
            version: string;
        };
        /** @description One artifact. */
        SessionArtifact: {
            /** @description Its key in the session: the turn, a dot, and its number in the turn from 1. */
            key: string;
            /** @description `code`, `draft`, or the kind of the attachment. */
            kind: string;
            /** @description The language of a block, or the name of the attachment. */
            name: string | null;
            /** @description The source that contains it. */
            source: components["schemas"]["ItemId"];
            /** @description Its content, byte for byte. */
            text: string;
            /**
             * Format: uint32
             * @description The turn.
             */
            turn: number;
        };
        /** @description The context of a session. */
        SessionContext: {
            /** @description Ids of the items included: entries of the base truth first, in the order of their lines. */
            citations: components["schemas"]["ItemId"][];
            /** @description The tokenizer used. */
            counted_by: string;
            /** @description Messages that are shortened; `…` marks the omissions. */
            cut: components["schemas"]["ItemId"][];
            /** @description Lines of the recalled part that represent items. */
            lines: components["schemas"]["PackLine"][];
            /** @description The raw window, oldest first, word for word except for `cut`. */
            messages: components["schemas"]["WindowTurn"][];
            /** @description Items and messages that were found but did not fit; retrievable by id. */
            omitted: components["schemas"]["ItemId"][];
            /** @description Turns whose line did not fit. */
            omitted_turns: number[];
            /** @description True if the hard exceptions alone exceed `max_tokens`. */
            over_budget: boolean;
            /** @description The sections in order, recalled ones last. */
            sections: components["schemas"]["PackSection"][];
            /** @description The session. */
            session_id: string;
            /** @description The same text without the raw window, for a system prompt that precedes `messages`. */
            system: string;
            /** @description The whole context as one text. */
            text: string;
            /**
             * Format: uint
             * @description Tokens of `text`.
             */
            tokens: number;
            /** @description Included turns without a summary, shown in their own words. */
            unsummarized: number[];
            /**
             * Format: uint64
             * @description The version it was built from.
             */
            version: number;
        };
        /** @description Figures of a session. */
        SessionOverview: {
            /**
             * Format: uint
             * @description Entries of the base truth, including hard exceptions.
             */
            base_truth: number;
            /**
             * Format: uint
             * @description Hard exceptions.
             */
            exceptions: number;
            /**
             * Format: date-time
             * @description Time of the first message.
             */
            first_said_at: string | null;
            /** @description True if it was ended and not resumed. */
            is_over: boolean;
            /**
             * Format: date-time
             * @description Time of the last message.
             */
            last_said_at: string | null;
            /** @description Its id. */
            session_id: string;
            /**
             * Format: uint
             * @description Number of exchanges.
             */
            turns: number;
            /**
             * Format: uint
             * @description Closed exchanges without a summary.
             */
            unsummarized: number;
        };
        /** @description A page of a list. */
        SessionOverviewPage: {
            /** @description The entries. */
            items: components["schemas"]["SessionOverview"][];
            /** @description Value of `after` for the next page; null on the last. */
            next: string | null;
            /**
             * Format: uint
             * @description Number of entries on all pages.
             */
            total: number;
        };
        /** @description The state of a session. */
        SessionState: {
            /** @description Code blocks, drafts and attachments, by turn. */
            artifacts: components["schemas"]["SessionArtifact"][];
            /** @description Entries in force, hard exceptions first. */
            base_truth: components["schemas"]["BaseTruthLine"][];
            /**
             * Format: uint32
             * @description The turn at which the base truth was last consolidated.
             */
            consolidated_turn: number;
            /** @description True if it was ended and not resumed. */
            is_over: boolean;
            /** @description The last exchanges, word for word. */
            raw_window: components["schemas"]["WindowTurn"][];
            /** @description Its id. */
            session_id: string;
            /**
             * Format: uint
             * @description Number of stored snapshots of the base truth.
             */
            snapshots: number;
            /** @description One line per closed exchange. */
            turn_log: components["schemas"]["TurnLogLine"][];
            /** @description Turns without a summary. */
            unsummarized: number[];
            /**
             * Format: uint64
             * @description The version of the state.
             */
            version: number;
        };
        /** @description Messages of the session in the path, oldest first. */
        SessionTurnsRequest: {
            messages: components["schemas"]["TurnMessage"][];
            /** @description Time of the messages. Defaults to now. */
            said_at?: (string) | null;
            /** @description Topic of the messages. */
            topic?: string | null;
            /** @description When to respond: `durable`, `indexed` or `extracted`. */
            wait?: components["schemas"]["WaitUntil"];
        };
        /** @description An item for display. */
        SourceItem: {
            /** @description Artifacts of the source. */
            artifacts: components["schemas"]["Artifact"][];
            /** @description Name of the author. */
            author: string | null;
            /** @description Hash over content, author and time of a source; over the text of a derived item. */
            content_hash: string;
            /**
             * Format: uint64
             * @description The event that recorded it.
             */
            event_seq: number;
            /**
             * Format: uint64
             * @description Number of hits.
             */
            hits: number;
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description Its kind. */
            kind: components["schemas"]["ItemKind"];
            /**
             * Format: date-time
             * @description Time of the last hit.
             */
            last_hit_at?: string | null;
            /** @description Pin and rating. */
            marks: components["schemas"]["ItemMarks"];
            /** @description Its id in the imported data. */
            native_id: string | null;
            /** @description Role of the author. */
            role: components["schemas"]["Role"];
            /**
             * Format: date-time
             * @description Time of the message.
             */
            said_at: string | null;
            /** @description The session. */
            session_id: string | null;
            /** @description Status of a derived item. */
            standing?: string | null;
            /** @description The text. */
            text: string;
            /** @description Its topic. */
            topic: string | null;
        };
        /** @description Kind of origin. It alone determines the trust. */
        SourceKind: "user_said" | "user_edited" | "assistant_said" | "tool_output" | "document" | "imported" | "web" | "inferred";
        /** @description A part of a text, in bytes of its UTF-8 form. */
        Span: {
            /**
             * Format: uint
             * @description The byte after the last.
             */
            end: number;
            /**
             * Format: uint
             * @description The first byte.
             */
            start: number;
        };
        /** @description The outcome for an exchange. */
        SummarizedTurn: {
            /** @description New entries of the base truth, with their text. */
            added: [
                components["schemas"]["ItemId"],
                string
            ][];
            /** @description How deeply it was summarised. */
            depth: components["schemas"]["SummaryDepth"];
            /** @description True if the summariser failed permanently and the exchange itself is used. */
            raw: boolean;
            /** @description Refused or adjusted changes, with the proposed text. */
            refused: components["schemas"]["RefusedEntry"][];
            /** @description Removed entries, with their text. */
            removed: [
                components["schemas"]["ItemId"],
                string
            ][];
            /** @description The session. */
            session_id: string;
            /**
             * Format: uint32
             * @description The number of the exchange.
             */
            turn: number;
            /** @description Replaced entries: the new one, its text, the old one. */
            updated: [
                components["schemas"]["ItemId"],
                string,
                components["schemas"]["ItemId"]
            ][];
        };
        /** @description How deeply an exchange is summarised, depending on its size. */
        SummaryDepth: "short" | "medium" | "long";
        /** @description One task, goal or problem. */
        Task: {
            /** @description The attempts. */
            attempts?: components["schemas"]["Attempt"][];
            /**
             * Format: date-time
             * @description When it was first mentioned.
             */
            created_at?: string | null;
            /** @description Details, if any. */
            description?: string;
            /**
             * Format: date-time
             * @description The due date.
             */
            due?: string | null;
            /** @description The evidence; never empty. */
            evidence: components["schemas"]["Evidence"][];
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description Its kind. */
            kind: components["schemas"]["TaskKind"];
            /** @description Links to other items. */
            links?: components["schemas"]["Link"][];
            /**
             * Format: uint8
             * @description From 1 to 10.
             */
            priority: number;
            /** @description The status. */
            status: components["schemas"]["TaskStatus"];
            /** @description Free tags. */
            tags?: string[];
            /** @description A few words. */
            title: string;
            /** @description Its trust. */
            trust: components["schemas"]["Trust"];
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at?: string | null;
        };
        /** @description A task, goal or problem. */
        TaskInput: {
            /** @description Earlier attempts. */
            attempts?: components["schemas"]["AttemptInput"][];
            /** @description Time of the first mention. Defaults to now. */
            created_at?: (string) | null;
            /**
             * @description Description.
             * @default
             */
            description?: string;
            /** @description Due date. */
            due?: (string) | null;
            /**
             * @description Kind. Defaults to `task`.
             * @enum {string|null}
             */
            kind?: "task" | "goal" | "problem" | null;
            /** @description Links to existing items. */
            links?: components["schemas"]["LinkInput"][];
            /**
             * Format: uint8
             * @description Priority, 1 to 10. Defaults to 5.
             */
            priority?: number | null;
            /**
             * @description Status. Defaults to `active`.
             * @enum {string|null}
             */
            status?: "active" | "stalled" | "done" | "dropped" | null;
            /**
             * @description Free-form tags.
             * @default []
             */
            tags?: string[];
            /** @description Short title. */
            title: string;
        };
        /** @description The kind of a task item. */
        TaskKind: "task" | "goal" | "problem";
        /** @description A page of a list. */
        TaskPage: {
            /** @description The entries. */
            items: components["schemas"]["Task"][];
            /** @description Value of `after` for the next page; null on the last. */
            next: string | null;
            /**
             * Format: uint
             * @description Number of entries on all pages.
             */
            total: number;
        };
        /** @description Status of a task. */
        TaskStatus: "active" | "stalled" | "done" | "dropped";
        /** @description A tenet. */
        Tenet: {
            /** @description The broad subject area. */
            domain?: string | null;
            /** @description Facts, episodes and sources it rests on. */
            evidence: components["schemas"]["ItemId"][];
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description Its kind. */
            kind: components["schemas"]["TenetKind"];
            /** @description The status. */
            status: components["schemas"]["TenetStatus"];
            /** @description The text. */
            text: string;
            /** @description The narrow subject area. */
            topic?: string | null;
            /**
             * Format: uint32
             * @description Number of times it was reworded or decided on.
             */
            version: number;
        };
        /** @description A line of the self-model. */
        TenetInput: {
            /** @description Domain. */
            domain?: string | null;
            /**
             * @description Items the line is based on.
             * @default []
             */
            evidence?: string[];
            /** @enum {string} */
            kind: "value" | "preference" | "policy" | "goal";
            text: string;
            /** @description Topic. */
            topic?: string | null;
        };
        /** @description Kind of a tenet. */
        TenetKind: "value" | "preference" | "policy" | "goal";
        /** @description A tenet. */
        TenetLine: {
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description Its kind. */
            kind: components["schemas"]["TenetKind"];
            /** @description Its text. */
            text: string;
            /** @description The topic's folder. */
            topic: string;
            /** @description The display name of the topic. */
            topic_name: string;
        };
        /** @description A page of a list. */
        TenetPage: {
            /** @description The entries. */
            items: components["schemas"]["Tenet"][];
            /** @description Value of `after` for the next page; null on the last. */
            next: string | null;
            /**
             * Format: uint
             * @description Number of entries on all pages.
             */
            total: number;
        };
        /** @description A tenet. */
        TenetRow: {
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description Its kind. */
            kind: components["schemas"]["TenetKind"];
            /** @description True if the user pinned it. */
            pinned?: boolean;
            /** @description Its status. */
            status: components["schemas"]["TenetStatus"];
            /** @description Its text. */
            text: string;
        };
        /** @description Status of a tenet. */
        TenetStatus: "proposed" | "confirmed" | "outdated";
        /** @description How long a fact is expected to hold. */
        TimeSpan: "short_term" | "medium_term" | "current" | "long_term" | "future";
        /** @description `topic_memory.json`. */
        TopicMemory: {
            /** @description Superseded facts, latest first. */
            earlier: components["schemas"]["FactRow"][];
            /**
             * Format: uint
             * @description Number of entries.
             */
            entries: number;
            /** @description Active facts, most important first. */
            facts: components["schemas"]["FactRow"][];
            /**
             * Format: uint
             * @description Number of facts beyond the limit; only the entries contain them.
             */
            facts_left_out?: number;
            /**
             * Format: date
             * @description The day of the earliest.
             */
            first_day: string;
            /**
             * Format: date
             * @description The day of the latest.
             */
            last_day: string;
            /** @description The newest entries. */
            latest: components["schemas"]["EntryLine"][];
            /** @description Its display name. */
            name: string;
            /** @description Notes, best supported first. */
            notes?: components["schemas"]["NoteRow"][];
            /** @description `topic_memory.v1`. */
            schema: string;
            /** @description Its state, for people; nothing is decided by it. */
            state: components["schemas"]["TopicState"];
            /** @description The newest episodes, without idle talk. */
            stories?: components["schemas"]["EpisodeRow"][];
            /** @description Tenets the user confirmed. */
            tenets?: components["schemas"]["TenetRow"][];
            /** @description The topic's folder. */
            topic: string;
        };
        /** @description A page of a list. */
        TopicMemoryPage: {
            /** @description The entries. */
            items: components["schemas"]["TopicMemory"][];
            /** @description Value of `after` for the next page; null on the last. */
            next: string | null;
            /**
             * Format: uint
             * @description Number of entries on all pages.
             */
            total: number;
        };
        /** @description The current state of a topic. */
        TopicSnapshot: {
            /**
             * Format: uint
             * @description Number of active facts.
             */
            facts: number;
            /**
             * Format: date
             * @description The day of its latest entry.
             */
            last_day: string;
            /** @description Its display name. */
            name: string;
            /** @description Its state, shortened. */
            state: components["schemas"]["TopicState"];
            /** @description Its folder. */
            topic: string;
        };
        /** @description The state of a topic. */
        TopicState: {
            /** @description The extent of its sources, and what is left out. */
            bounds: string[];
            /** @description Open tasks. */
            next_actions: string[];
            /** @description Questions of waiting reviews. */
            open_questions: string[];
            /** @description The topic in a few sentences. */
            summary: string;
        };
        /** @description How far something may reach, lowest first. */
        Trust: "web" | "tool" | "agent" | "user";
        /** @description One entry of the base truth. */
        Truth: {
            /** @description The evidence; empty only if it was entered by hand. */
            evidence?: components["schemas"]["Evidence"][];
            /** @description The first source of the exchange it was summarised from. */
            exchange?: components["schemas"]["ItemId"] | null;
            /** @description Its id. */
            id: components["schemas"]["ItemId"];
            /** @description Its kind. */
            kind: components["schemas"]["TruthKind"];
            /** @description The entry it replaces. It holds even if that entry is missing. */
            replaces?: components["schemas"]["ItemId"] | null;
            /** @description Entries whose text it contains; it is removed with them. */
            rests_on?: components["schemas"]["ItemId"][];
            /** @description The session. */
            session: string;
            /** @description The text. */
            text: string;
            /** @description Its trust, at most that of its sources. */
            trust: components["schemas"]["Trust"];
        };
        /** @description Kind of a base truth entry. */
        TruthKind: "exception" | "constraint" | "goal" | "decision" | "preference" | "fact" | "task" | "question";
        /** @description A line of the turn log for display. */
        TurnLogLine: {
            /** @description Summary of the replies; their own words likewise. */
            assistant_summary: string;
            /** @description Depth of the existing or pending summary. */
            depth: components["schemas"]["SummaryDepth"];
            /** @description True if the summariser failed permanently. */
            raw: boolean;
            /** @description Rejected proposals. */
            refused: components["schemas"]["RefusedEntry"][];
            /**
             * Format: date-time
             * @description Time of its first message.
             */
            said_at: string | null;
            /** @description Its sources. */
            sources: components["schemas"]["ItemId"][];
            /**
             * Format: uint32
             * @description Number of the turn.
             */
            turn: number;
            /** @description True if the summary is still due. */
            unsummarized: boolean;
            /** @description Summary of the user's messages; their own words if `raw` or `unsummarized`. */
            user_summary: string;
        };
        /** @description A message. */
        TurnMessage: {
            /** @description Text of the message. */
            content: string;
            /** @description Name of the speaker. */
            name?: string | null;
            role: components["schemas"]["MessageRole"];
            /** @description Time of the message. Defaults to that of the request. */
            said_at?: (string) | null;
        };
        /** @description Receipt of recorded messages. */
        TurnsReceipt: {
            /**
             * Format: uuid
             * @description Id of the last event.
             */
            event_id: string;
            /** @description Receipts of the events, in order. */
            events: components["schemas"]["Receipt"][];
            /** @description Ids of the recorded sources, one a message. */
            items: components["schemas"]["ItemId"][];
            /** @description Work that remains to be done; null if none. */
            lag: string | null;
            /**
             * Format: uint64
             * @description Version of the memory that includes the messages.
             */
            position: number;
            /** @description True if a request with the same idempotency key was answered before. */
            replayed: boolean;
            /**
             * Format: uint64
             * @description Position of the last event.
             */
            seq: number;
        };
        /** @description Messages, oldest first. */
        TurnsRequest: {
            messages: components["schemas"]["TurnMessage"][];
            /** @description Time of the messages. Defaults to now. */
            said_at?: (string) | null;
            /** @description Session of the messages. */
            session_id?: string | null;
            /** @description Topic of the messages. */
            topic?: string | null;
            /** @description When to respond: `durable`, `indexed` or `extracted`. */
            wait?: components["schemas"]["WaitUntil"];
        };
        /** @description The outcome for one source. */
        Understanding: {
            /** @description Facts asserted, with their status. */
            asserted: components["schemas"]["ItemOutcome"][];
            /** @description Paths of the core document that changed. */
            core_paths: string[];
            /** @description Facts that ended or were corrected. */
            ended: components["schemas"]["ItemOutcome"][];
            /** @description Notes recorded or seconded, and tenets. */
            notes: components["schemas"]["ItemOutcome"][];
            /** @description Refused candidates. */
            refused: components["schemas"]["Rejection"][];
            /** @description Reviews opened. */
            reviews: components["schemas"]["ItemOutcome"][];
            /** @description Facts seen again. */
            seen: components["schemas"]["ItemOutcome"][];
            /** @description Tasks, goals and problems opened or changed. */
            tasks: components["schemas"]["ItemOutcome"][];
        };
        /** @description The scores of an answer, each 0 to 1. */
        UsageScores: {
            /**
             * Format: double
             * @description Confidence, 0 to 1.
             */
            confidence: number;
            /**
             * Format: double
             * @description Similarity of the valence of question and answer.
             */
            emotion: number;
            /**
             * Format: double
             * @description `1 − exp(−times seen / 3)`.
             */
            frequency: number;
            /**
             * Format: double
             * @description Cosine with the active goal.
             */
            goal: number;
            /**
             * Format: double
             * @description Importance by kind and type.
             */
            importance: number;
            /**
             * Format: double
             * @description Relevance × confidence.
             */
            priority: number;
            /**
             * Format: double
             * @description Similarity to the question.
             */
            query: number;
            /**
             * Format: double
             * @description `exp(−age / τ)`; 0 if its time is unknown.
             */
            recency: number;
            /**
             * Format: double
             * @description Weighted sum of the scores above.
             */
            relevance: number;
        };
        /** @description Proof that a user was deleted. */
        UserErasure: {
            /** @description Places that held copies and were cleaned. */
            cleaned: string[];
            /**
             * Format: uint64
             * @description Number of events in the ledger.
             */
            events: number;
            /** @description The last head, which identifies the deleted ledger to holders of a pin. */
            head: string;
            /**
             * Format: uint64
             * @description Number of items.
             */
            items: number;
            /** @description In an encrypted store: what is unreadable now, and when that is final. */
            unreadable?: string | null;
            /** @description The user. */
            user_id: components["schemas"]["UserId"];
        };
        /** @description Id of a user: 1 to 128 ASCII letters, digits and `- _ . @ : +`. */
        UserId: string;
        /** @description The time for which statements are requested. */
        Validity: {
            /** Format: date-time */
            now: string | null;
        } | {
            within: [
                string,
                string
            ];
        } | "ever";
        /** @description The recommended reaction to the results. */
        Verdict: "answer" | "clarify" | "verify" | "abstain";
        /** @description Report of a verification. */
        VerifyResult: {
            /**
             * Format: uint64
             * @description Number of changes that match their digest.
             */
            changes_intact: number;
            /** @description Damaged events and changes. */
            damage: components["schemas"]["LedgerDamage"][];
            /** @description Erased changes. */
            erased: components["schemas"]["ErasedChange"][];
            /**
             * Format: uint64
             * @description Number of events checked.
             */
            events: number;
            /** @description The newest hash, in hexadecimal. Pin it to detect truncation and rewriting later. */
            head_hash: string;
            /**
             * Format: uint64
             * @description The newest position.
             */
            head_seq: number;
            /** @description True if nothing is damaged and the pin matches. */
            intact: boolean;
            /** @description Faults found by the storage's own checks. */
            medium: string[];
            /** @description The results for the pins. */
            pins: components["schemas"]["PinOutcome"][];
            /** @description The user of the ledger. */
            user_id: components["schemas"]["UserId"];
        };
        /** @description When to respond. */
        WaitUntil: "durable" | "indexed" | "extracted";
        /** @description An item that does not count until a review is decided. */
        WaitingItem: {
            /** @description The item; the review itself if there is no such item yet. */
            item_id: components["schemas"]["ItemId"];
            /** @description The question to the user. */
            question: string;
            /** @description Why it waits. */
            reason: string;
            /** @description The review. */
            review_id: components["schemas"]["ItemId"];
        };
        /** @description One message of the raw window. */
        WindowTurn: {
            /** @description The source. */
            id: components["schemas"]["ItemId"];
            /** @description The role. */
            role: components["schemas"]["Role"];
            /**
             * Format: date-time
             * @description When it was said.
             */
            said_at: string | null;
            /** @description The speaker, by name or role. */
            speaker: string;
            /** @description The text. */
            text: string;
            /**
             * Format: uint32
             * @description The turn it belongs to.
             */
            turn: number;
        };
        /** @description Items to write. At least one is required. */
        WriteRequest: {
            /** @description The writer. Defaults to `agent`. Only `user` can change the user's profile without a review. */
            actor?: components["schemas"]["RequestActor"] | null;
            /**
             * @description Rejected: the engine derives episodes from turns.
             * @default []
             */
            episodes?: unknown[];
            /**
             * @description Facts: `subject`, `predicate`, `object`, or `s`, `p`, `o`.
             * @default []
             */
            facts?: components["schemas"]["FactInput"][];
            /**
             * @description Notes.
             * @default []
             */
            reflective?: components["schemas"]["NoteInput"][];
            /** @default [] */
            tasks?: components["schemas"]["TaskInput"][];
            /**
             * @description Lines of the self-model.
             * @default []
             */
            tenets?: components["schemas"]["TenetInput"][];
            /** @description User whose memory it is. Defaults to the user of the key, then of the server. */
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
        /** @description Result of a write. */
        WriteResult: {
            /** @description Items that count: created now, or known before and confirmed again. */
            accepted: components["schemas"]["ItemId"][];
            /** @description Paths of unknown fields, which were ignored: `facts[0].version`. */
            ignored?: string[];
            /** @description Kinds of secrets that were removed before anything was stored. */
            redacted?: string[];
            /** @description Rejected items with the reasons. */
            rejected: components["schemas"]["Rejection"][];
            /** @description True if a request with the same idempotency key was answered before. */
            replayed: boolean;
            /**
             * Format: uint64
             * @description Position of the event that recorded it.
             */
            seq?: number | null;
            /** @description The source that records the write. */
            source: components["schemas"]["ItemId"] | null;
            /** @description What happened to each item, known ones that ended included. */
            understood: components["schemas"]["Understanding"];
            /**
             * Format: uint64
             * @description Version of the memory that contains everything that was recorded.
             */
            version?: number | null;
            /** @description Items that do not count until their review is decided. */
            waiting: components["schemas"]["WaitingItem"][];
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
