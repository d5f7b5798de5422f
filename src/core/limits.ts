/**
 * Every number that shapes what the core shows or accepts, with its unit in its name. Limits that
 * an operator may move are settings as well (`config.ts`), with these as defaults.
 */

/** Most levels of nested arrays and objects in a JSON document. Past it: `json_too_deep`. */
export const JSON_DEPTH_LEVELS = 1024
/** What an operator may make of it. */
export const MAX_JSON_DEPTH_LEVELS = 2048

/**
 * Most bytes of a preview in the format extended, and the smallest and largest value a call may set
 * for it.
 */
export const PREVIEW_LIMIT_BYTES = 1_000
export const PREVIEW_LIMIT_MIN_BYTES = 200
export const PREVIEW_LIMIT_MAX_BYTES = 100_000

/** A preview is never longer; its names alone could be as long as the value. */
export const PREVIEW_MAX_CHARS = 1_000_000
/** A text of at most this many bytes is previewed whole. */
export const PREVIEW_WHOLE_TEXT_BYTES = 600
/** What a longer text shows of its start. */
export const PREVIEW_HEAD_BYTES = 400
/** What a longer text shows of its end. */
export const PREVIEW_TAIL_BYTES = 200
/**
 * Elements of an array sampled at its start; an array that head and tail would cover is shown
 * whole.
 */
export const PREVIEW_HEAD_ITEMS = 3
/** Elements of an array sampled at its end. */
export const PREVIEW_TAIL_ITEMS = 2
/** What one sampled element, or one string member, may take before it is clipped or measured. */
export const PREVIEW_ELEMENT_BYTES = 120
/** What one member of a sampled object may take. */
export const PREVIEW_MEMBER_BYTES = 24
/** Members of a sampled object that are shown. */
export const PREVIEW_ELEMENT_MEMBERS = 2
/** An object with more members than this shows only names. */
export const PREVIEW_OBJECT_MEMBERS = 24
/** How many names such an object shows. */
export const PREVIEW_OBJECT_NAMES = 8

/**
 * Most characters of a result that its content carries verbatim; also the size of windows and of
 * recall pages.
 */
export const VERBATIM_CHARS = 30_000
/** Smallest and largest value a run may set for {@link VERBATIM_CHARS}. */
export const VERBATIM_MIN_CHARS = 2_000
export const VERBATIM_MAX_CHARS = 1_000_000
/** What a window gives its head, as a fraction; the tail gets the rest. */
export const WINDOW_HEAD_FIFTHS = 2
export const WINDOW_FIFTHS = 5
/** Most characters of one line that a window shows. */
export const WINDOW_LINE_CHARS = 2_000

/** A failure message longer than this is compacted for the model. */
export const FAILURE_WHOLE_CHARS = 512
export const FAILURE_HEAD_CHARS = 320
export const FAILURE_TAIL_CHARS = 128

/** A tool result of at most this many bytes is never elided. */
export const ELIDE_WHOLE_BYTES = 100

/** Notes name a result by its evidence id up to this length, by its handle beyond. */
export const NOTE_ID_BYTES = 64
/** Longest name of a tool. */
export const TOOL_NAME_CHARS = 256
/** Longest evidence id. */
export const EVIDENCE_ID_BYTES = 2_048

/**
 * Bytes of a value in one chunk row of the ledger, and most bytes its view may take when it is
 * rendered.
 */
export const CHUNK_BYTES = 65_536
export const CHUNK_VIEW_BYTES = 262_144
/** Chunks that were read lately and are kept in memory. */
export const CHUNK_CACHE_BYTES = 33_554_432

/** Entries in lists that describe what there is instead of what was asked for. */
export const AVAILABLE_ENTRIES = 20
/** Characters of one such entry. */
export const AVAILABLE_ENTRY_CHARS = 80

/** Largest `attempts` of a failure: what the reference's `u32` holds. */
export const FAILURE_ATTEMPTS_MAX = 4_294_967_295

/** Rough tokens: four characters make one; a word makes 1.3, whichever gives more. */
export const TOKEN_CHARS = 4
export const WORD_TOKENS = 1.3
/** Past this a share of the context window is the whole of it. */
export const PERCENT_MAX = 100

/** What the answer to a compaction shows of its summary. */
export const SUMMARY_PREVIEW_CHARS = 200
/** Files that a summary carries on; of more, the newest. */
export const SUMMARY_FILES = 200
/** The text that asks a model for a summary is never longer. */
export const SUMMARY_REQUEST_CHARS = 80_000
/** What that text shows of one message, of the words in it, and of one tool input or result. */
export const SUMMARY_MESSAGE_CHARS = 16_000
export const SUMMARY_TEXT_CHARS = 8_000
export const SUMMARY_RESULT_CHARS = 2_000
/**
 * Facts drawn from a transcript: how many of each kind, how long one may be, how much of one text
 * is searched.
 */
export const FACT_FILES = 100
export const FACT_LINES = 30
export const FACT_CHARS = 200
export const FACT_SCAN_CHARS = 65_536
/** How much is searched of all texts together. */
export const FACT_TOTAL_CHARS = 2_000_000

/** Most references in the arguments of one call. Past it: `over_limit`. */
export const REFERENCES = 1_000
/** What is shown of a reference that stands for nothing, or is what is wrong with a call. */
export const REFERENCE_SHOWN_CHARS = 256
/** What a pointer to a reference shows of one member name. */
export const POINTER_NAME_BYTES = 256
