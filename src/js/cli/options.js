// The command line: one table of the engine's options, from which parsing and help are made.
import { parseArgs } from 'node:util';

/** The user asked for something that the command line does not have. */
export class UsageError extends Error {}

const POLICIES = 'raw, clean_tool_repair, squash_failed_calls, summary_prefix, reachability_gc, custom';

// key of the engine's option, how the value is read, what it takes, what it does.
// Whether a value is a right one the engine decides: there is no second copy of its rules here.
const GROUPS = [
  ['Every policy', [
    ['policy', 'text', 'NAME', `one of ${POLICIES} (default raw)`],
    ['respect_provider_signatures', 'boolean', null, 'fall back to raw rather than change signed reasoning (default on)'],
    ['signature_scope', 'text', 'WORD', 'what a signature vouches for: message or prefix (default message)'],
    ['on_signature_conflict', 'text', 'WORD', 'when signatures stand in the way: raw, skip or strip_reasoning (default raw)'],
    ['reason', 'text', 'TEXT', 'the reason to record'],
    ['prefix_hash', 'boolean', null, 'hash what is projected (default on)'],
    ['protect_open_turn', 'boolean', null, 'leave the last calls and their results alone (default on)'],
    ['is_error', 'module', 'FILE.mjs', 'its default export decides which tool results are failures'],
  ]],
  ['clean_tool_repair', [
    ['repair_match', 'text', 'WORD', 'a later success of what repairs a call: tool or target (default tool)'],
  ]],
  ['summary_prefix', [
    ['keep_last', 'number', 'N', 'how many messages at the end stay verbatim (default 0)'],
    ['summary', 'text', 'TEXT', 'the summary; default: that of the transcript, else a line with the count'],
    ['summary_role', 'text', 'ROLE', 'system, developer or user (default system)'],
    ['keep_newest_user', 'boolean', null, 'keep the newest user message too (default off)'],
  ]],
  ['reachability_gc', [
    ['root_window', 'number', 'N', 'how many messages at the end are roots (default 8)'],
    ['recent_messages', 'number', 'N', 'another name of --root-window, as is --keep-last here'],
    ['min_chars', 'number', 'N', 'the shortest tool result to reclaim (default 500)'],
    ['roots', 'json', 'JSON', 'tool results whose identifiers occur in it stay'],
    ['active_plan', 'json', 'JSON', 'as --roots'],
    ['scratchpad', 'json', 'JSON', 'as --roots'],
    ['pending_tool_args', 'json', 'JSON', 'as --roots'],
    ['unresolved_findings', 'json', 'JSON', 'as --roots'],
    ['require_write_barrier', 'boolean', null, 'reclaim nothing unless a barrier is given (default off)'],
    ['write_barrier', 'json', 'JSON', 'a barrier: the working memory was written down'],
    ['write_barrier_refs', 'json', 'JSON', 'as --write-barrier'],
    ['barrier_refs', 'json', 'JSON', 'as --write-barrier'],
  ]],
  ['custom', [
    ['projector', 'module', 'FILE.mjs', 'its default export gets the messages and returns those to keep'],
  ]],
];

const OPTIONS = GROUPS.flatMap(([, options]) => options);

const PROVIDERS = 'anthropic, openai_chat, openai_responses, gemini, bedrock, mistral, deepseek';

// Of every command that reads a file, in the same form.
const READING = [
  ['format', 'text', 'NAME', 'what the file is; default: found out (formats lists them)'],
  ['view', 'text', 'WORD', 'model: what the model saw last; all: every message of the file (default model)'],
  ['transcript', 'number', 'N', 'which conversation of a file that holds several, from 0 (default: the first, of a log the longest); of validate, which request of a log (default: each)'],
];

// Of `project`, beside the options of the engine.
const PRINTING = [
  ['export', 'text', 'FORM', 'print the messages to send, spelled as in the file: json or jsonl'],
];

const VALIDATE = [
  ['provider', 'text', 'NAME', `one of ${PROVIDERS} (required; of project, with --export)`],
  ['model', 'text', 'NAME', 'the model, when the file does not say: what is refused differs'],
];

/** The flag of an option: `keep_last` is `--keep-last`. */
export const flagOf = (key) => `--${key.replaceAll('_', '-')}`;

const PARSE_CONFIG = {
  allowPositionals: true,
  allowNegative: true,
  options: {
    all: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
    ...Object.fromEntries(
      [...OPTIONS, ...READING, ...PRINTING, ...VALIDATE].map(([key, kind]) => [flagOf(key).slice(2), { type: kind === 'boolean' ? 'boolean' : 'string' }]),
    ),
  },
};

/**
 * Reads the arguments of the command.
 *
 * @param {string[]} args
 * @returns {{positionals: string[], help: boolean, version: boolean, json: boolean, all: boolean, options: object,
 *   modules: object, reading: object, printing: object, request: object}} `options` for the engine, `modules` the files
 *   whose default exports are options, `reading` for the importer, `request` what `validate` takes
 */
export function parseCommand(args) {
  let parsed;
  try {
    parsed = parseArgs({ ...PARSE_CONFIG, args });
  } catch (error) {
    throw new UsageError(parseMistake(error));
  }
  const { positionals, values } = parsed;
  const options = {};
  const modules = {};
  for (const [key, kind] of OPTIONS) {
    const value = values[flagOf(key).slice(2)];
    if (value === undefined) continue;
    if (kind === 'module') modules[key] = value;
    else options[key] = valueOf(key, kind, value);
  }
  // A projector says which policy is meant.
  if (modules.projector !== undefined) options.policy ??= 'custom';
  const [reading, printing, request] = [READING, PRINTING, VALIDATE].map((table) => given(table, values));
  const { help = false, version = false, json = false, all = false } = values;
  const ofProject = { ...(all && { all }), ...options, ...modules, ...printing };
  refuseStrangers(positionals[0], { reading, ofProject, request });
  return { positionals, help, version, json, all, options, modules, reading, printing, request };
}

function given(table, values) {
  const used = table.filter(([key]) => values[key] !== undefined);
  return Object.fromEntries(used.map(([key, kind]) => [key, valueOf(key, kind, values[key])]));
}

/** Each command has options of its own. */
function refuseStrangers(verb, { reading, ofProject, request }) {
  const { provider, ...ofValidate } = request;
  const of = {
    // To whom the messages are sent matters when they are printed.
    project: ofProject.export === undefined ? request : ofValidate,
    validate: ofProject,
    inspect: { ...ofProject, ...request },
    formats: { ...reading, ...ofProject, ...request },
  };
  const [stranger] = Object.keys(of[verb] ?? {});
  if (stranger !== undefined) throw new UsageError(`${verb} has no option ${flagOf(stranger)}`);
}

/** Node's words for a mistake go on for several lines. */
function parseMistake({ code, message }) {
  const flag = /'(-[\w-]*)/.exec(message)?.[1];
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `there is no option ${flag}`;
  if (/missing|ambiguous/.test(message)) return `${flag} needs a value (${flag}=-... when it begins with -)`;
  return message.split('\n')[0];
}

function valueOf(key, kind, value) {
  if (kind === 'number') {
    if (!/^\d+$/.test(value)) throw new UsageError(`${flagOf(key)} takes a whole number, not "${value}"`);
    return Number(value);
  }
  if (kind === 'json') return jsonOf(key, value);
  return value;
}

/** Root material is JSON; a text that does not look like JSON is taken as it is, without quotes. */
function jsonOf(key, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (/^\s*["[{]/.test(text)) throw new UsageError(`${flagOf(key)} is not valid JSON: ${error.message}`);
    return text;
  }
}

/** The text of `--help`. */
export function help() {
  const lines = [
    'Usage: transcript-projection project FILE [options]',
    '       transcript-projection inspect FILE [--json]',
    '       transcript-projection validate FILE --provider NAME [--model NAME] [--json]',
    '       transcript-projection formats [--json]',
    '',
    'project shows what a model would see of a transcript, what is hidden from it and why;',
    'inspect what there is in a file, and what each policy would reclaim;',
    'validate what a provider would refuse in it.',
    'FILE is a session file of a coding agent, a request or a response of a provider, a list',
    'of messages: whatever formats lists; - is standard input.',
    '',
    '  --json                        print the result as JSON',
    '  --all                         show all rows, unchanged runs too',
    '  --help, --version',
  ];
  for (const [title, options] of [['Reading', READING], ['project', PRINTING], ...GROUPS, ['validate', VALIDATE]]) {
    lines.push('', `${title}:`);
    for (const [key, kind, takes, does] of options) {
      const flag = kind === 'boolean' ? `--[no-]${flagOf(key).slice(2)}` : `${flagOf(key)} ${takes}`;
      // A flag too long for its column has its line to itself.
      if (flag.length > 28) lines.push(`  ${flag}`, ...wrap(does).map((line) => ' '.repeat(32) + line));
      else wrap(does).forEach((line, i) => lines.push(`  ${(i ? '' : flag).padEnd(28)}  ${line}`));
    }
  }
  lines.push('', 'Exit codes: 0 done, 1 bad input or something that is refused, 2 wrong usage.', '');
  return lines.join('\n');
}

function wrap(text) {
  return text.match(/.{1,48}(?:\s+|$)/g).map((line) => line.trim());
}
