//! Every bound in one file: a queue, loop, document or batch without a line here is a bug.

/// Longest text of one source, in bytes. Longer input is refused, never cut.
pub const SOURCE_BYTES_MAX: usize = 1 << 20;
/// Longest identifier a caller may choose (user, session, author, topic), in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// Longest rationale, origin reference or idempotency key of an event, in bytes.
pub const NOTE_BYTES_MAX: usize = 1024;
/// Most turns one request may record.
pub const TURNS_PER_REQUEST_MAX: usize = 256;
/// Most keys of one store, revoked ones included.
pub const KEYS_MAX: usize = 10_000;
/// Most changes in one event.
pub const CHANGES_PER_EVENT_MAX: usize = 4096;
/// Most events one revert, pick or erase may name.
pub const EVENTS_PER_COMMAND_MAX: usize = 100_000;
/// Most events that may be named as the cause of another.
pub const CAUSES_MAX: usize = 64;
/// Most operations in one JSON Patch.
pub const PATCH_OPS_MAX: usize = 100;
/// Largest core document, in bytes of compact JSON.
pub const CORE_BYTES_MAX: usize = 256 * 1024;
/// Deepest core document.
pub const CORE_DEPTH_MAX: usize = 32;
/// Most artifacts beside one source.
pub const ARTIFACTS_MAX: usize = 64;
/// Most places that are kept as evidence of one item; the first ones stay.
pub const EVIDENCE_PER_ITEM_MAX: usize = 16;
/// Turns looked at when episodes are told; older ones that nobody told stay untold.
pub const TURNS_UNTOLD_MAX: usize = 4096;
/// Names of people that a reader is told of.
pub const NAMES_KNOWN_MAX: usize = 128;
/// Known values a new one is compared with in meaning.
pub const VALUES_COMPARED_MAX: usize = 256;
/// Vectors of values kept in memory per user.
pub const VALUES_KEPT_MAX: usize = 4096;
/// Largest statement about an item, in bytes of JSON.
pub const ITEM_BYTES_MAX: usize = 64 * 1024;
/// Sources left unread that one more turn reads before its own; the rest waits for the next.
pub const UNREAD_PER_TURN_MAX: usize = 64;
/// Events after which the position of reading is saved although the ledger alone still tells it.
pub const UNSAVED_READINGS_MAX: u64 = 64;
/// Longest entry of a session's base truth, in bytes.
pub const TRUTH_BYTES_MAX: usize = 600;
/// Most entries of a session's base truth that are in force at a time.
pub const TRUTHS_PER_SESSION_MAX: usize = 256;
/// Most hard exceptions of a session: all of them stand in every context.
pub const EXCEPTIONS_PER_SESSION_MAX: usize = 32;
/// Most changes of a base truth one exchange may propose.
pub const DIFF_ENTRIES_MAX: usize = 64;
/// Longest summary of what the user said, in words.
pub const USER_SUMMARY_WORDS_MAX: usize = 25;
/// Longest summary of what the assistant answered, in words.
pub const ASSISTANT_SUMMARY_WORDS_MAX: usize = 30;
/// Longest summary of either, in bytes: words have no bound of their own.
pub const SUMMARY_BYTES_MAX: usize = 600;
/// How long a model may take to tell an exchange, in seconds, unless its deadline is set.
pub const SUMMARY_SECONDS: u64 = 8;
/// Exchanges left unsummarised that one more turn of their session summarises before its own; the rest waits.
pub const SUMMARIES_PER_TURN_MAX: usize = 8;
/// Snapshots of a base truth kept per session; the ledger can tell any other version.
pub const BASE_TRUTH_SNAPSHOTS_KEPT: usize = 8;
/// Sources in one exchange that are summarised together.
pub const EXCHANGE_SOURCES_MAX: usize = 64;
/// Days kept of one place of the core document without a schema; the first ones stay.
pub const DAYS_PER_PLACE_MAX: usize = 32;
/// Places one promotion moves; the rest waits for the next.
pub const PLACES_PER_PROMOTION_MAX: usize = 256;
/// Members a promoted category may have.
pub const CATEGORY_MEMBERS_MAX: usize = 1024;
/// Categories one memory may grow.
pub const CATEGORIES_PROMOTED_MAX: usize = 64;
/// Patterns one survey of the core document tells of, and promotions one run makes or proposes.
pub const CANDIDATES_MAX: usize = 16;
/// Most notes kept at a time.
pub const NOTES_MAX: usize = 100;
/// Longest note somebody proposes, in bytes.
pub const NOTE_TEXT_BYTES_MAX: usize = 300;
/// Messages shown to whoever looks back, the last ones, and how much of each, in characters.
pub const REFLECTED_SOURCES_MAX: usize = 48;
/// As above.
pub const REFLECTED_CHARS_MAX: usize = 600;
/// How long looking back may take, in seconds.
pub const REFLECT_SECONDS_MAX: u64 = 60;
/// Patterns a model names in one run, what it is shown of each, and how much of one value, in characters.
pub const NAMED_MAX: usize = 8;
/// As above.
pub const NAMED_MEMBERS_MAX: usize = 24;
/// As above.
pub const NAMED_CHARS_MAX: usize = 200;
/// Lines of the self-model that a pattern suggested and that wait for the user at a time.
pub const TENETS_WAITING_MAX: usize = 8;
/// Items that became part of another, and that of the next, as far as this is followed.
pub const MERGES_FOLLOWED_MAX: usize = 64;
/// Items one event takes out of the active index.
pub const DEMOTED_PER_EVENT: usize = 512;
/// Items whose hits one change writes down.
pub const HITS_PER_CHANGE: usize = 512;
/// Items shown since hits were last written down, after which they are written down by the way.
pub const HITS_UNFLUSHED_MAX: usize = 64;
/// Items shown whose hits are kept at a time; more are not counted until these are written down.
pub const HITS_PENDING_MAX: usize = 65_536;
/// Events one compaction or reflection appends; the rest waits for the next.
pub const GROWTH_EVENTS_MAX: usize = 1024;
/// Items one write may bring.
pub const WRITE_ITEMS_MAX: usize = 500;
/// Episodes recorded in one event.
pub const EPISODES_PER_EVENT: usize = 16;
/// Most attempts kept with one problem.
pub const ATTEMPTS_PER_TASK_MAX: usize = 256;
/// Texts kept in mind per user after they were recalled, so that their echo is not taken for news.
pub const SHOWN_TEXTS_MAX: usize = 64;
/// Longest query, in bytes.
pub const QUERY_BYTES_MAX: usize = 16 * 1024;
/// Most items one recall returns.
pub const RECALL_K_MAX: usize = 1000;
/// Passages are cut at this many bytes, at a paragraph, sentence or word.
pub const PASSAGE_BYTES_MAX: usize = 1100;
/// From this many passages on, recall scores only what a first stage nominates.
pub const EXHAUSTIVE_PASSAGES_MAX: usize = 16_384;
/// How many passages each arm nominates when not all are scored.
pub const NOMINEES_PER_ARM: usize = 512;
/// How many drawn items the question's words nominate, and from how many of the best sources others are read; more where
/// more are asked for.
pub const DRAWN_NOMINEES_PER_ARM: usize = 128;
/// Answers that are put in order by relevance and confidence, if no more are asked for.
pub const RANKED: usize = 50;
/// Answers among which diversity chooses.
pub const DIVERSIFIED: usize = 50;
/// Tokens of a passage, and of a question, that are compared one by one.
pub const TOKEN_CODES_MAX: usize = 160;
/// The best passages of the first stage whose tokens are compared with the question's.
pub const LATE_PASSAGES: usize = 64;
/// Events between two snapshots, at least.
pub const SNAPSHOT_EVENTS: u64 = 256;
/// Snapshots kept beside the newest one.
pub const SNAPSHOTS_KEPT: usize = 4;
/// How often a decision is taken again after another writer was faster.
pub const CONFLICT_RETRIES_MAX: u32 = 8;
/// How often a memory is read again at once if that fails after something was made durable.
pub const RELOAD_RETRIES_MAX: u32 = 3;
/// Turns in one imported event.
pub const IMPORT_TURNS_PER_EVENT: usize = 64;
/// Imported events made durable in one transaction.
pub const IMPORT_EVENTS_PER_COMMIT: usize = 16;
/// Longest line of a line-based import, in bytes.
pub const IMPORT_LINE_BYTES_MAX: usize = 16 << 20;
/// Largest file read whole by an import (plain text, Markdown), in bytes.
pub const IMPORT_FILE_BYTES_MAX: u64 = 256 << 20;
/// Largest conversation, message or memory of a streamed import, in bytes of JSON; one at a time is held.
pub const IMPORT_ELEMENT_BYTES_MAX: u64 = 64 << 20;
/// Largest note of an imported folder, in bytes.
pub const IMPORT_NOTE_BYTES_MAX: u64 = 16 << 20;
/// Deepest folder below the one that is imported.
pub const IMPORT_DEPTH_MAX: usize = 32;
/// Most files in an imported folder, and most entries in an imported archive.
pub const IMPORT_FILES_MAX: usize = 200_000;
/// Most bytes read to learn what an archive holds.
pub const IMPORT_ARCHIVE_LIST_BYTES_MAX: u64 = 64 << 20;
/// Most bytes an archive's entries may unpack to, of those an import reads.
pub const IMPORT_UNPACKED_BYTES_MAX: u64 = 8 << 30;
/// Beyond `IMPORT_UNPACKED_FREE_BYTES`, an archive's entry may unpack to this many times its packed size.
pub const IMPORT_UNPACKED_RATIO_MAX: u64 = 200;
/// An archive's entry of this size is read however well it was packed.
pub const IMPORT_UNPACKED_FREE_BYTES: u64 = 64 << 20;
/// Reasons an import lists one by one; the rest is counted.
pub const IMPORT_NOTICES_MAX: usize = 100;
/// Most tokens a pack may be asked for.
pub const PACK_TOKENS_MAX: usize = 200_000;
/// Passages without a vector that a recall embeds before it answers; with more it answers without them and says so.
pub const EMBED_ON_READ_MAX: usize = 256;
/// Texts embedded between two durable writes of their vectors.
pub const EMBED_BATCH: usize = 64;
/// Bytes of folded memories an engine keeps; the least recently used are let go first.
pub const ACTIVE_BYTES_MAX: usize = 4 << 30;
/// Folded memories an engine keeps; the least recently used are let go first.
pub const OPEN_MEMORIES_MAX: usize = 100_000;
/// Open memories whose ledger is open too; the least recently used are closed first.
pub const OPEN_LEDGERS_MAX: usize = 64;
/// Answers a reranker reads.
pub const RERANKED: usize = 24;
/// Questions whose deadline has passed and whose models are still at work; more are not begun.
pub const UNFINISHED_MAX: usize = 4;
/// Events whose lines share a file of a vault.
pub const VAULT_SEGMENT_EVENTS: u64 = 1024;
/// Longest name of a file or folder of a vault, in bytes.
pub const ARTIFACT_NAME_BYTES_MAX: usize = 64;
/// Longest line a page of a vault makes of a statement, in bytes.
pub const ARTIFACT_LINE_BYTES_MAX: usize = 200;
/// Facts of a topic's page that hold; the entries tell the rest.
pub const TOPIC_FACTS_MAX: usize = 2000;
/// Facts of a topic's page that held once.
pub const TOPIC_EARLIER_MAX: usize = 50;
/// Entries a topic's page names; the folder holds the rest.
pub const TOPIC_ENTRIES_LISTED: usize = 60;
/// Open questions of a topic's page.
pub const TOPIC_QUESTIONS_MAX: usize = 20;
/// Things to do of a topic's page.
pub const TOPIC_ACTIONS_MAX: usize = 20;
/// Stories of a topic's page; the entries tell the rest.
pub const TOPIC_STORIES_MAX: usize = 12;
/// Notes of a topic's page, and lines of the self-model.
pub const TOPIC_LEARNED_MAX: usize = 20;
/// Notes of the global memory, and lines of the self-model.
pub const GLOBAL_LEARNED_MAX: usize = 8;
/// Largest page of the global memory, in bytes.
pub const GLOBAL_MEMORY_BYTES_MAX: usize = 16 * 1024;
/// Most topics the global memory shows.
pub const GLOBAL_TOPICS_MAX: usize = 24;
/// Topics the global memory shows before it leaves out facts instead.
pub const GLOBAL_TOPICS_KEPT: usize = 8;
/// Days before the newest entry in which a topic counts as active.
pub const GLOBAL_ACTIVE_DAYS: i64 = 90;
/// Facts of each type in the first tier of what is not to be forgotten.
pub const CORE_FACTS_PER_TYPE: usize = 8;
/// Facts of each type in the second.
pub const SECONDARY_FACTS_PER_TYPE: usize = 6;
/// Largest file of a vault that is read, in bytes.
pub const VAULT_FILE_BYTES_MAX: u64 = 2 << 30;
/// Largest page a person edits that is taken up, in bytes.
pub const EDITED_PAGE_BYTES_MAX: u64 = 8 << 20;
/// Edits of one page that are proposed at once; the rest waits for the next time.
pub const EDITS_PER_PAGE_MAX: usize = 200;
