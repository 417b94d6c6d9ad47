// What there is in a session file, and what each policy would make of it.
import { counted, factLines, grouped, inColumns } from './columns.js';

const BIGGEST = 10; // results that are listed
const KEEP_LAST = 10; // messages that a summary would leave

const POLICIES = [
  { policy: 'clean_tool_repair' },
  { policy: 'squash_failed_calls' },
  { policy: 'summary_prefix', keep_last: KEEP_LAST },
  { policy: 'reachability_gc' },
];

/**
 * @param {import('./read.js').Input} input
 * @returns {object} the report, as `--json` prints it
 */
export function inspect({ transcript, source, warnings, outcomes, stats, format, title, confidence, reason, summary }) {
  const sizes = transcript.messages.map((message) => JSON.stringify(message).length);
  const characters = sizes.reduce((total, size) => total + size, 0);
  const views = POLICIES.map((options) => transcript.project({ ...options, prefix_hash: false }));
  return {
    format,
    title,
    confidence,
    reason,
    stats,
    roles: rolesOf(transcript),
    has_summary: summary !== null,
    characters,
    biggest_results: biggestResults(transcript, source, characters),
    failures: {
      failed: stats.failed_results,
      inferred: stats.inferred_failures,
      repaired: repairedOf(transcript),
      refused: stats.refused_calls,
    },
    policies: views.map((view, index) => ({ options: POLICIES[index], ...reclaimedBy(view, characters) })),
    warnings,
    outcomes,
  };
}

function rolesOf(transcript) {
  return countsOf(transcript.messages.map(({ role, type }) => String(role ?? type ?? 'message')));
}

/** How often each name is there; a map, for they are words of a file. */
function countsOf(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** The engine shows each result to whoever decides about failures; here it is only looked at. */
function biggestResults(transcript, source, characters) {
  const results = [];
  transcript.project({
    prefix_hash: false,
    is_error: ({ text, content, ...result }) => {
      const size = text === '' ? (JSON.stringify(content) ?? '').length : text.length;
      results.push({ ...placeOf(result, source), tool_name: result.tool_name, tool_call_id: result.tool_call_id, characters: size });
    },
  });
  results.sort((a, b) => b.characters - a.characters);
  return results.slice(0, BIGGEST).map((result) => ({ ...result, share: share(result.characters, characters) }));
}

const placeOf = ({ message_index, block_index }, source) => ({
  message_index,
  block_index,
  line: source[message_index]?.line ?? null,
});

/** How many failures the same tool made good later, signed or not. */
function repairedOf(transcript) {
  const view = transcript.project({
    policy: 'clean_tool_repair',
    respect_provider_signatures: false,
    prefix_hash: false,
  });
  return view.hidden_calls.length;
}

function reclaimedBy(view, characters) {
  return {
    hidden: view.dropped_count,
    trimmed: view.trimmed_indices.length,
    redacted: view.redacted_count,
    reclaimed_chars: view.reclaimed_chars,
    reclaimed_tokens: view.reclaimed_tokens,
    share: share(view.reclaimed_chars, characters),
    blocked: view.provider_safety_blocked ? view.reason : null,
  };
}

const share = (part, whole) => (whole === 0 ? 0 : Number((part / whole).toFixed(4)));
const percent = (part) => `${(part * 100).toFixed(1)} %`;
const list = (counts) =>
  Object.entries(counts)
    .map(([name, count]) => `${grouped(count)} ${name}`)
    .join(', ');

/**
 * @param {object} report of `inspect`
 * @param {string} file its name
 * @param {{columns: number, paint: Function}} style
 * @returns {string}
 */
export function inspectText(report, file, style) {
  const parts = [factLines(facts(report, file), style, (name) => name === 'warnings')];
  const results = report.biggest_results;
  if (results.length > 0) {
    const rows = results.map((result) => [
      result.message_index,
      ...(results[0].line === null ? [] : [result.line]),
      result.tool_name ?? '?',
      result.characters,
      percent(result.share),
    ]);
    const heads = ['message', ...(results[0].line === null ? [] : ['line']), 'tool', 'characters', 'share'];
    parts.push(`${style.paint('bold', 'Biggest results')}\n${inColumns(heads, rows, style)}`);
  }
  const rows = report.policies.map(({ options, ...did }) => [
    options.policy,
    did.hidden,
    did.redacted,
    did.reclaimed_tokens,
    percent(did.share),
    noteOf(options, did),
  ]);
  const heads = ['policy', 'hidden', 'redacted', 'tokens', 'share', ''];
  parts.push(`${style.paint('bold', 'What each policy would reclaim')}\n${inColumns(heads, rows, style)}`);
  return `${parts.join('\n\n')}\n`;
}

function noteOf({ keep_last: kept }, { trimmed, blocked }) {
  const notes = [];
  if (blocked !== null) notes.push(blocked.replace(/^.*\(blocked: (.*) at index (\d+)\)$/, 'blocked at $2: $1'));
  if (trimmed > 0) notes.push(`${counted(trimmed, 'more message')} trimmed`);
  if (kept !== undefined) notes.push(`keeps the last ${kept}`);
  return notes.join('; ');
}

function facts({ title, confidence, reason, stats, roles, failures, warnings, has_summary }, file) {
  const size = `${grouped(stats.bytes)} bytes${stats.lines > 0 ? `, ${counted(stats.lines, 'line')}` : ''}`;
  const told = [
    ['file', `${file}, ${size}`],
    ['format', `${title}: ${confidence}, by ${reason}`],
    ['messages', `${grouped(stats.messages)}${stats.messages > 0 ? `: ${list(roles)}` : ''}`],
    ['calls', calls(stats)],
    ['failures', failuresOf(failures)],
  ];
  if (has_summary) told.push(['summary', 'the file carries one']);
  if (Object.keys(stats.kinds).length > 0) told.push(['besides', list(stats.kinds)]);
  if (warnings.length > 0) told.push(['warnings', `${grouped(warnings.length)}: ${list(countsOf(warnings.map(({ code }) => code)))}`]);
  return told;
}

function calls({ calls: made, results, unanswered_calls: unanswered, orphan_results: orphans }) {
  const parts = [grouped(made), counted(results, 'result')];
  if (unanswered > 0) parts.push(`${grouped(unanswered)} without a result`);
  if (orphans > 0) parts.push(`${counted(orphans, 'result')} without a call`);
  return parts.join(', ');
}

function failuresOf({ failed, inferred, repaired, refused }) {
  const guessed = inferred > 0 ? ` (${grouped(inferred)} of them guessed)` : '';
  return `${grouped(failed)}${guessed}, ${grouped(repaired)} repaired later; ${grouped(refused)} refused by the user`;
}
