//! Every limit in one file: a queue, loop, document or batch without a limit here is a bug.

/// Longest text of one source, in bytes. Longer input is refused, not truncated.
pub const SOURCE_BYTES_MAX: usize = 1 << 20;
/// Longest sentence that rules read, in bytes. The cost of a rule may grow with the square of a sentence.
pub const SENTENCE_BYTES_MAX: usize = 8 * 1024;
/// Facts and tasks after which rules read no further sentence of a source. Each is compared with what is known.
pub const CANDIDATES_PER_SOURCE_MAX: usize = 1024;
/// Longest name chosen by a caller (user, session, author, topic), in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// Longest rationale, origin reference or idempotency key of an event, in bytes.
pub const NOTE_BYTES_MAX: usize = 1024;
/// Most turns one request may record.
pub const TURNS_PER_REQUEST_MAX: usize = 256;
/// Most keys in one store, including revoked ones.
pub const KEYS_MAX: usize = 10_000;
/// Most changes in one event.
pub const CHANGES_PER_EVENT_MAX: usize = 4096;
/// Most events one revert, pick or erase may name.
pub const EVENTS_PER_COMMAND_MAX: usize = 100_000;
/// Most causes of an event.
pub const CAUSES_MAX: usize = 64;
/// Most operations in one JSON Patch.
pub const PATCH_OPS_MAX: usize = 100;
/// Largest core document, in bytes of compact JSON.
pub const CORE_BYTES_MAX: usize = 256 * 1024;
/// Greatest depth of a core document.
pub const CORE_DEPTH_MAX: usize = 32;
/// Most artifacts of one source.
pub const ARTIFACTS_MAX: usize = 64;
/// The newest sources among which the UTC offset of the user's clock is looked for.
pub const OFFSET_SOURCES_MAX: usize = 256;
/// Most evidence of one item; the first entries are kept.
pub const EVIDENCE_PER_ITEM_MAX: usize = 16;
/// Turns considered for new episodes; older turns without an episode stay without one.
pub const TURNS_UNTOLD_MAX: usize = 4096;
/// Names of known people given to an extractor.
pub const NAMES_KNOWN_MAX: usize = 128;
/// Known values that a new value is compared with by embedding.
pub const VALUES_COMPARED_MAX: usize = 256;
/// Value vectors cached per user.
pub const VALUES_KEPT_MAX: usize = 4096;
/// Largest change of a derived item, in bytes of JSON.
pub const ITEM_BYTES_MAX: usize = 64 * 1024;
/// Unread sources that one more turn reads before its own; the rest waits for the next turn.
pub const UNREAD_PER_TURN_MAX: usize = 64;
/// Events after which the read position is saved although it follows from the ledger.
pub const UNSAVED_READINGS_MAX: u64 = 64;
/// Longest entry of a session's base truth, in bytes.
pub const TRUTH_BYTES_MAX: usize = 600;
/// Most active entries of a session's base truth.
pub const TRUTHS_PER_SESSION_MAX: usize = 256;
/// Most hard exceptions of a session; all of them are part of every context.
pub const EXCEPTIONS_PER_SESSION_MAX: usize = 32;
/// Most changes of the base truth that one exchange may propose.
pub const DIFF_ENTRIES_MAX: usize = 64;
/// Longest summary of the user's messages, in words.
pub const USER_SUMMARY_WORDS_MAX: usize = 25;
/// Longest summary of the assistant's replies, in words.
pub const ASSISTANT_SUMMARY_WORDS_MAX: usize = 30;
/// Longest summary of either, in bytes, since the length of words is not limited.
pub const SUMMARY_BYTES_MAX: usize = 600;
/// Default deadline of a model that summarises an exchange, in seconds.
pub const SUMMARY_SECONDS: u64 = 8;
/// Unsummarised exchanges that one more turn of their session summarises before its own; the rest waits.
pub const SUMMARIES_PER_TURN_MAX: usize = 8;
/// Base truth snapshots stored per session; other versions follow from the ledger.
pub const BASE_TRUTH_SNAPSHOTS_KEPT: usize = 8;
/// Most sources of one exchange that are summarised together.
pub const EXCHANGE_SOURCES_MAX: usize = 64;
/// Days recorded per place of the core document without a schema; the first days are kept.
pub const DAYS_PER_PLACE_MAX: usize = 32;
/// Places that one promotion moves; the rest waits for the next promotion.
pub const PLACES_PER_PROMOTION_MAX: usize = 256;
/// Most members of a promoted category.
pub const CATEGORY_MEMBERS_MAX: usize = 1024;
/// Most promoted categories of one memory.
pub const CATEGORIES_PROMOTED_MAX: usize = 64;
/// Most patterns in one survey of the core document, and most promotions proposed or made in one run.
pub const CANDIDATES_MAX: usize = 16;
/// Most visible notes.
pub const NOTES_MAX: usize = 100;
/// Longest proposed note, in bytes.
pub const NOTE_TEXT_BYTES_MAX: usize = 300;
/// Most messages shown to a reflecting model; the last ones are taken.
pub const REFLECTED_SOURCES_MAX: usize = 48;
/// Longest excerpt of such a message, in characters.
pub const REFLECTED_CHARS_MAX: usize = 600;
/// Deadline of a reflection, in seconds.
pub const REFLECT_SECONDS_MAX: u64 = 60;
/// Patterns that a model names in one run.
pub const NAMED_MAX: usize = 8;
/// Members shown to it per pattern.
pub const NAMED_MEMBERS_MAX: usize = 24;
/// Longest excerpt of a member's value, in characters.
pub const NAMED_CHARS_MAX: usize = 200;
/// Most proposed tenets that wait for the user.
pub const TENETS_WAITING_MAX: usize = 8;
/// Most merges followed from one item.
pub const MERGES_FOLLOWED_MAX: usize = 64;
/// Most items demoted in one event.
pub const DEMOTED_PER_EVENT: usize = 512;
/// Most items whose hits one change records.
pub const HITS_PER_CHANGE: usize = 512;
/// Number of items with unrecorded hits above which hits are recorded with the next write.
pub const HITS_UNFLUSHED_MAX: usize = 64;
/// Most items with unrecorded hits; hits of further items are not counted until these are recorded.
pub const HITS_PENDING_MAX: usize = 65_536;
/// Most events that one compaction or reflection appends; the rest waits for the next.
pub const GROWTH_EVENTS_MAX: usize = 1024;
/// Most items in one write.
pub const WRITE_ITEMS_MAX: usize = 500;
/// Most episodes recorded in one event.
pub const EPISODES_PER_EVENT: usize = 16;
/// Most attempts of one problem.
pub const ATTEMPTS_PER_TASK_MAX: usize = 256;
/// Recently recalled texts kept per user, so that their echo is not recorded as new.
pub const SHOWN_TEXTS_MAX: usize = 64;
/// Longest query, in bytes.
pub const QUERY_BYTES_MAX: usize = 16 * 1024;
/// Most items one recall returns.
pub const RECALL_K_MAX: usize = 1000;
/// Passages are split at this many bytes, at a paragraph, sentence or word.
pub const PASSAGE_BYTES_MAX: usize = 1100;
/// From this many passages on, recall scores only those that the first stage nominates.
pub const EXHAUSTIVE_PASSAGES_MAX: usize = 16_384;
/// Passages that each arm nominates if not all are scored.
pub const NOMINEES_PER_ARM: usize = 512;
/// Derived items nominated by the words of a query, and best sources from which others are added; more if more results
/// are requested.
pub const DRAWN_NOMINEES_PER_ARM: usize = 128;
/// Results ordered by relevance and confidence, unless more are requested.
pub const RANKED: usize = 50;
/// Results among which diversification selects.
pub const DIVERSIFIED: usize = 50;
/// Most tokens of a passage or a query for late interaction.
pub const TOKEN_CODES_MAX: usize = 160;
/// Best passages of the first stage that late interaction scores.
pub const LATE_PASSAGES: usize = 64;
/// Least number of events between two snapshots.
pub const SNAPSHOT_EVENTS: u64 = 256;
/// Snapshots stored besides the newest one.
pub const SNAPSHOTS_KEPT: usize = 4;
/// Retries of a decision after a conflict with another writer.
pub const CONFLICT_RETRIES_MAX: u32 = 8;
/// Retries of reading a memory again if that fails after a durable write.
pub const RELOAD_RETRIES_MAX: u32 = 3;
/// Most turns in one imported event.
pub const IMPORT_TURNS_PER_EVENT: usize = 64;
/// Imported events per transaction.
pub const IMPORT_EVENTS_PER_COMMIT: usize = 16;
/// Longest line of a line-based import, in bytes.
pub const IMPORT_LINE_BYTES_MAX: usize = 16 << 20;
/// Largest file that an import reads whole (plain text, Markdown), in bytes.
pub const IMPORT_FILE_BYTES_MAX: u64 = 256 << 20;
/// Largest conversation, message or memory of a streamed import, in bytes of JSON; one is held at a time.
pub const IMPORT_ELEMENT_BYTES_MAX: u64 = 64 << 20;
/// Largest note of an imported folder, in bytes.
pub const IMPORT_NOTE_BYTES_MAX: u64 = 16 << 20;
/// Largest document of another program (HTML, DOCX, EPUB, PDF, e-mail) that is imported, in bytes.
pub const IMPORT_DOCUMENT_BYTES_MAX: u64 = 128 << 20;
/// Greatest depth of an imported folder.
pub const IMPORT_DEPTH_MAX: usize = 32;
/// Most files in an imported folder, and most entries in an imported archive.
pub const IMPORT_FILES_MAX: usize = 200_000;
/// Most bytes read to list the entries of an archive.
pub const IMPORT_ARCHIVE_LIST_BYTES_MAX: u64 = 64 << 20;
/// Greatest total unpacked size of an archive's imported entries, in bytes.
pub const IMPORT_UNPACKED_BYTES_MAX: u64 = 8 << 30;
/// Beyond `IMPORT_UNPACKED_FREE_BYTES`, the greatest ratio of an archive entry's unpacked to its packed size.
pub const IMPORT_UNPACKED_RATIO_MAX: u64 = 200;
/// Unpacked size up to which an archive entry is read at any compression ratio, in bytes.
pub const IMPORT_UNPACKED_FREE_BYTES: u64 = 64 << 20;
/// Notices of an import listed one by one; the rest is counted.
pub const IMPORT_NOTICES_MAX: usize = 100;
/// Largest budget of a pack, in tokens.
pub const PACK_TOKENS_MAX: usize = 200_000;
/// Passages without a vector that a recall embeds before it answers; with more it answers without them and reports it.
pub const EMBED_ON_READ_MAX: usize = 256;
/// Texts embedded between two durable writes of their vectors.
pub const EMBED_BATCH: usize = 64;
/// Bytes of folded memories cached by an engine; the least recently used are evicted first.
pub const ACTIVE_BYTES_MAX: usize = 4 << 30;
/// Folded memories cached by an engine; the least recently used are evicted first.
pub const OPEN_MEMORIES_MAX: usize = 100_000;
/// Open memories whose ledger is also open; the least recently used are closed first.
pub const OPEN_LEDGERS_MAX: usize = 64;
/// Results passed to a reranker.
pub const RERANKED: usize = 24;
/// Queries past their deadline whose models are still running; further ones are not started.
pub const UNFINISHED_MAX: usize = 4;
/// Ledger lines per file of a vault.
pub const VAULT_SEGMENT_EVENTS: u64 = 1024;
/// Longest file or folder name in a vault, in bytes.
pub const ARTIFACT_NAME_BYTES_MAX: usize = 64;
/// Longest line of a statement on a vault page, in bytes.
pub const ARTIFACT_LINE_BYTES_MAX: usize = 200;
/// Active facts on a topic page; the rest is only in the entries.
pub const TOPIC_FACTS_MAX: usize = 2000;
/// Superseded facts on a topic page.
pub const TOPIC_EARLIER_MAX: usize = 50;
/// Entries listed on a topic page; the rest is in the folder.
pub const TOPIC_ENTRIES_LISTED: usize = 60;
/// Open questions on a topic page.
pub const TOPIC_QUESTIONS_MAX: usize = 20;
/// Open tasks on a topic page.
pub const TOPIC_ACTIONS_MAX: usize = 20;
/// Episodes on a topic page; the rest is only in the entries.
pub const TOPIC_STORIES_MAX: usize = 12;
/// Notes, and tenets, on a topic page.
pub const TOPIC_LEARNED_MAX: usize = 20;
/// Notes, and tenets, in the global memory.
pub const GLOBAL_LEARNED_MAX: usize = 8;
/// Largest page of the global memory, in bytes.
pub const GLOBAL_MEMORY_BYTES_MAX: usize = 16 * 1024;
/// Most topics in the global memory.
pub const GLOBAL_TOPICS_MAX: usize = 24;
/// Topics that the global memory keeps when it is shortened; facts are removed next.
pub const GLOBAL_TOPICS_KEPT: usize = 8;
/// Days before the newest entry within which a topic counts as active.
pub const GLOBAL_ACTIVE_DAYS: i64 = 90;
/// Core facts of each type in the global memory.
pub const CORE_FACTS_PER_TYPE: usize = 8;
/// Secondary facts of each type in the global memory.
pub const SECONDARY_FACTS_PER_TYPE: usize = 6;
/// Largest vault file that is read, in bytes.
pub const VAULT_FILE_BYTES_MAX: u64 = 2 << 30;
/// Largest edited page that is read, in bytes.
pub const EDITED_PAGE_BYTES_MAX: u64 = 8 << 20;
/// Edits of one page that are proposed at once; the rest waits for the next run.
pub const EDITS_PER_PAGE_MAX: usize = 200;
