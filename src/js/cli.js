#!/usr/bin/env node
// The command `transcript-projection`: projects a file and shows what happened to each message, or says what a provider
// would refuse in it.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { flagOf, help, parseCommand, UsageError } from './cli/options.js';
import { InputError, readInput } from './cli/read.js';
import { rowsOf } from './cli/rows.js';
import { painter, table, totals } from './cli/table.js';
import { terminalSafeJson, visible } from './cli/text.js';
import { violationTable, violationTotals } from './cli/violations.js';
import { ProjectionError, Transcript, transcriptProjectAsync, validateMessages, version } from './node.js';

const BAD_INPUT = 1;
const REFUSED = 1;
const WRONG_USAGE = 2;
// What the engine finds wrong with the options is wrong with the command.
const USAGE_CODES = ['invalid_option', 'unknown_option', 'unknown_policy', 'unknown_provider', 'projector_required'];

// Who reads our output may have seen enough (`| head`): that is no error.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

const VERBS = { project: runProject, validate: runValidate };

let file = ''; // what the errors are about
try {
  await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = exitCodeOf(error);
  process.stderr.write(`transcript-projection: ${lineOf(error)}\n`);
}

async function main(args) {
  const command = parseCommand(args);
  if (command.help) return print(help());
  if (command.version) return print(`${version}\n`);
  const [verb, ...files] = command.positionals;
  if (verb === undefined) throw new UsageError('what is to be done? project FILE, validate FILE, or --help');
  if (!Object.hasOwn(VERBS, verb)) throw new UsageError(`there is no command "${verb}", only project and validate`);
  if (files.length !== 1) throw new UsageError(`${verb} takes one FILE (- is standard input)`);
  await VERBS[verb](command, files);
}

function style() {
  return { columns: process.stdout.columns ?? 80, paint: painter(wantsColour()) };
}

async function runProject(command, files) {
  const options = { ...command.options, ...(await functionsOf(command.modules)) };
  file = files[0] === '-' ? '<stdin>' : files[0];
  const input = await readInput(files[0]);
  const { messages, view } = await project(input, options);
  if (command.json) return print(`${terminalSafeJson(JSON.stringify(view, null, 2))}\n`);

  const { columns, paint } = style();
  const rows = table(rowsOf(messages, view), { columns, paint, all: command.all });
  // Anthropic's requests have their system prompt beside the messages.
  const systemPrompt = input.value.system !== undefined;
  print(`${rows}\n\n${totals(view, { columns, paint, systemPrompt })}\n`);
}

async function runValidate({ json, request: { provider, ...given } }, files) {
  if (provider === undefined) throw new UsageError('validate needs a --provider');
  file = files[0] === '-' ? '<stdin>' : files[0];
  const { value, lines } = await readInput(files[0]);
  // Of a request the other fields matter too: the model, for one.
  const request = Array.isArray(value) ? given : { ...value, ...given };
  const violations = validated(value, provider, request, lines);
  if (violations.some(({ severity }) => severity === 'error')) process.exitCode = REFUSED;
  if (json) return print(`${terminalSafeJson(JSON.stringify(violations, null, 2))}\n`);
  const rows = violations.length > 0 ? `${violationTable(violations, style())}\n\n` : '';
  print(`${rows}${violationTotals(violations, { provider, count: messagesOf(value).length })}\n`);
}

function validated(value, provider, request, lines) {
  try {
    return validateMessages(value, provider, request);
  } catch (error) {
    // What the command line gives is of the right types: it is a field of the file.
    if (error.code === 'invalid_option') throw new InputError(error.message.replace('request.', ''));
    throw placed(error, lines);
  }
}

/** The options that are functions, from the modules that export them. */
async function functionsOf(modules) {
  const functions = {};
  for (const [key, path] of Object.entries(modules)) {
    const url = pathToFileURL(resolve(path));
    const { default: value } = await import(url).catch((error) => {
      throw new UsageError(`${flagOf(key)} ${path}: ${error.message}`);
    });
    if (typeof value !== 'function') throw new UsageError(`${flagOf(key)} ${path}: its default export is no function`);
    functions[key] = value;
  }
  return functions;
}

async function project({ json, value, lines }, options) {
  try {
    // A projector may be asynchronous; else the engine reads the text itself, which keeps big integers exact.
    if (options.projector) return { messages: messagesOf(value), view: await transcriptProjectAsync(value, options) };
    const transcript = Transcript.fromJSON(json);
    return { messages: messagesOf(value), view: transcript.project(options) };
  } catch (error) {
    throw placed(error, lines);
  }
}

/** The error with the line of the message that it is about. */
function placed(error, lines) {
  const at = /^messages\[(\d+)\]/.exec(error instanceof ProjectionError ? error.path : '');
  return at && lines ? new InputError(error.message, lines[at[1]]) : error;
}

function messagesOf(value) {
  return Array.isArray(value) ? value : (value.messages ?? value.contents ?? value.input);
}

function wantsColour() {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0';
  return process.stdout.isTTY === true;
}

function exitCodeOf(error) {
  return error instanceof UsageError || USAGE_CODES.includes(error?.code) ? WRONG_USAGE : BAD_INPUT;
}

/** The error on one line, after the place where it is. */
function lineOf(error) {
  const message = visible(String(error?.message ?? error));
  if (error instanceof UsageError) return `${message} (see --help)`;
  if (USAGE_CODES.includes(error?.code)) return message.replace(/options\.(\w+)/, (_, key) => flagOf(key));
  const place = error instanceof InputError && error.line ? `${file}:${error.line}` : file;
  return `${visible(place)}: ${message}`;
}

function print(text) {
  process.stdout.write(text);
}
