#!/usr/bin/env node
// The command `transcript-projection`: projects a file and shows what happened to each message, says what there is in it,
// or what a provider would refuse.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inColumns } from './cli/columns.js';
import { inspect, inspectText } from './cli/inspect.js';
import { flagOf, help, parseCommand, UsageError } from './cli/options.js';
import { InputError, readInput } from './cli/read.js';
import { rowsOf } from './cli/rows.js';
import { painter, table, totals } from './cli/table.js';
import { terminalSafeJson, visible } from './cli/text.js';
import { violationTable, violationTotals } from './cli/violations.js';
import { warningLines } from './cli/warnings.js';
import { exportMessages, importFormats, transcriptProjectAsync, validateMessages, version } from './node.js';

const BAD_INPUT = 1;
const REFUSED = 1;
const WRONG_USAGE = 2;
// What the engine finds wrong with the options is wrong with the command.
const USAGE_CODES = ['invalid_option', 'unknown_option', 'unknown_policy', 'unknown_provider', 'projector_required'];

// Where an entry of a request's list is.
const ENTRY = /^(messages|contents|input)?\[\d+\]$/;

// Who reads our output may have seen enough (`| head`): that is no error.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

const VERBS = { project: runProject, inspect: runInspect, validate: runValidate, formats: runFormats };

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
  if (verb === undefined) throw new UsageError('what is to be done? project FILE, inspect FILE, validate FILE, formats, or --help');
  if (!Object.hasOwn(VERBS, verb)) throw new UsageError(`there is no command "${verb}", only ${Object.keys(VERBS).join(', ')}`);
  const takes = verb === 'formats' ? 0 : 1;
  if (files.length !== takes) throw new UsageError(`${verb} takes ${takes ? 'one FILE (- is standard input)' : 'no FILE'}`);
  file = files[0] === '-' ? '<stdin>' : files[0];
  await VERBS[verb](command, ...files);
}

function style() {
  return { columns: process.stdout.columns ?? 80, paint: painter(wantsColour()) };
}

async function read(path, command) {
  const input = await readInput(path, command.reading);
  process.stderr.write(warningLines(input.warnings, file));
  return input;
}

async function runProject(command, path) {
  const options = { ...command.options, ...(await functionsOf(command.modules)) };
  const { export: form } = command.printing;
  const input = await read(path, command);
  const view = await project(input, options);
  if (form !== undefined) return print(inLine(exported(view, form, command.request.provider)));
  if (command.json) return print(`${terminalSafeJson(JSON.stringify(view, null, 2))}\n`);

  const { columns, paint } = style();
  const rows = table(rowsOf(input.transcript.messages, view), { columns, paint, all: command.all });
  // Anthropic's requests have their system prompt beside the messages.
  const systemPrompt = input.stats.kinds.system !== undefined;
  print(`${rows}\n\n${totals(view, { columns, paint, systemPrompt })}\n`);
}

function exported(view, form, provider) {
  try {
    const text = exportMessages(view, form, provider);
    // A file or a program gets the very bytes.
    return process.stdout.isTTY ? terminalSafeJson(text) : text;
  } catch (error) {
    throw error.path === 'format' ? new UsageError(`--export takes json or jsonl, not "${form}"`) : error;
  }
}

function inLine(text) {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

async function runInspect(command, path) {
  const report = inspect(await read(path, command));
  if (command.json) return print(`${terminalSafeJson(JSON.stringify(report, null, 2))}\n`);
  print(inspectText(report, file, style()));
}

function runFormats({ json }) {
  const formats = importFormats();
  if (json) return print(`${JSON.stringify(formats, null, 2)}\n`);
  const rows = formats.map(({ format, title }) => [format, title]);
  print(`${inColumns(['format', 'what it is'], rows, style())}\n`);
}

async function runValidate(command, path) {
  const { provider, ...given } = command.request;
  if (provider === undefined) throw new UsageError('validate needs a --provider');
  const input = await readInput(path, command.reading, { withRequests: true });
  if (input.isLog) return validateLog(input, { ...command, provider, given });
  const [{ body }] = input.requests;
  if (input.isTooLarge) process.stderr.write(`transcript-projection: warning: ${visible(file)}: too large for its requests to be read\n`);
  const list = listOf(input, body);
  if (list === input.transcript) process.stderr.write(warningLines(input.warnings, file));
  const violations = validated(list, input, provider, { ...body, ...given });
  report(violations, command, violationTable(violations, style()), violationTotals(violations, { provider, messages: list.length }));
}

/** Each request of a log as it was sent. */
function validateLog({ requests, others }, { provider, given, reading, ...command }) {
  const { transcript: wanted } = reading;
  if (wanted !== undefined && requests[wanted] === undefined) {
    throw new InputError(`--transcript ${wanted}: expected a request from 0 to ${requests.length - 1}`);
  }
  if (others > 0) process.stderr.write(`transcript-projection: warning: ${visible(file)}: ${others} without a request\n`);
  const checked = requests.flatMap(({ body, line, path }, request) => {
    if (wanted !== undefined && request !== wanted) return [];
    return [{ request, line, path, violations: refusedOf(body, provider, given) }];
  });
  const violations = checked.flatMap(({ request, line, path, violations }) =>
    violations.map((violation) => ({ request, line, path, ...violation })),
  );
  const tables = checked.filter(({ violations }) => violations.length > 0).map(({ request, line, path, violations }) => {
    const place = [line === null ? '' : `line ${line}`, path].filter(Boolean).join(', ');
    return `request ${request} (${visible(place)})\n${violationTable(violations, style())}`;
  });
  report(violations, command, tables.join('\n\n'), violationTotals(violations, { provider, requests: checked.length }));
}

/** What cannot be checked is refused as well: the others of the log still are. */
function refusedOf(body, provider, given) {
  try {
    return validateMessages(body, provider, given);
  } catch (error) {
    if (!['invalid_option', 'invalid_message', 'invalid_transcript'].includes(error.code)) throw error;
    const [, index] = /^messages\[(\d+)\]/.exec(error.path) ?? [];
    const message = error.message.replace('request.', '');
    return [{ rule: error.code, index: Number(index ?? 0), block: null, message, severity: 'error' }];
  }
}

function report(violations, { json }, rows, totals) {
  if (violations.some(({ severity }) => severity === 'error')) process.exitCode = REFUSED;
  if (json) return print(`${terminalSafeJson(JSON.stringify(violations, null, 2))}\n`);
  print(`${violations.length > 0 ? `${rows}\n\n` : ''}${totals}\n`);
}

/** What would be sent: an entry that is no message is left out of the transcript, but not of the request. */
function listOf({ transcript, warnings }, { messages, contents, input }) {
  if (!warnings.some(({ path }) => ENTRY.test(path))) return transcript;
  return messages ?? contents ?? input ?? transcript;
}

function validated(list, input, provider, request) {
  try {
    return list === input.transcript ? list.validate(provider, request) : validateMessages(list, provider, request);
  } catch (error) {
    // What the command line gives is of the right types: it is a field of the file.
    if (error.code === 'invalid_option') throw new InputError(error.message.replace('request.', ''));
    throw placed(error, input);
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

async function project(input, options) {
  try {
    // A projector may be asynchronous.
    if (options.projector) return await transcriptProjectAsync(input.transcript, options);
    return input.transcript.project(options);
  } catch (error) {
    throw placed(error, input);
  }
}

/** The error with the line of the message that it is about. */
function placed(error, { source }) {
  const at = /^messages\[(\d+)\]/.exec(error?.path ?? '');
  return at ? new InputError(error.message, source[at[1]]?.line) : error;
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
