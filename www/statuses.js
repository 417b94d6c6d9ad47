// The words for what became of a message. The worker sends numbers, the page shows the words.

export const KEPT = 0;
export const DROPPED = 1;
export const TRIMMED = 2;
export const REDACTED = 3;
/** Not a source message: the summary that stands for others. */
export const SUMMARY = 4;
/** Not a source message either: one that a custom projector made up. */
export const ADDED = 5;

export const STATUS_NAMES = ['kept', 'dropped', 'trimmed', 'redacted', 'summary', 'added'];
