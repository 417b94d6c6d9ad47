// The words for what became of a message. The worker sends numbers, the page shows the words.

export const KEPT = 0;
export const DROPPED = 1;
export const TRIMMED = 2;
export const REDACTED = 3;
/** Not a source message: the summary that stands for others. */
export const SUMMARY = 4;
/** Not a source message either: one that a custom projector made up. */
export const ADDED = 5;
/** Shown without its reasoning. */
export const STRIPPED = 6;

export const STATUS_NAMES = ['kept', 'dropped', 'trimmed', 'redacted', 'summary', 'added', 'stripped'];

/** Statuses that are rare: they are mentioned only where there are such rows. */
export const RARE = ['added', 'stripped'];
