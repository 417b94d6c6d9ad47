#!/usr/bin/env node
// The command `transcript-projection`: projects a file and shows what happened to each message.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { flagOf, help, parseCommand, UsageError } from './cli/options.js';
import { InputError, readInput } from './cli/read.js';
import { rowsOf } from './cli/rows.js';
import { painter, table, totals } from './cli/table.js';
import { terminalSafeJson, visible } from './cli/text.js';
import { ProjectionError, Transcript, transcriptProjectAsync, version } from './node.js';

const BAD_INPUT = 1;
const WRONG_USAGE = 2;
// What the engine finds wrong with the options is wrong with the command.
const USAGE_CODES = ['invalid_option', 'unknown_option', 'unknown_policy', 'projector_required'];

// Who reads our output may have seen enough (`| head`): that is no error.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

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
  if (verb === undefined) throw new UsageError('what is to be done? project FILE, or --help');
  if (verb !== 'project') throw new UsageError(`there is no command "${verb}", only project`);
  if (files.length !== 1) throw new UsageError('project takes one FILE (- is standard input)');

  const options = { ...command.options, ...(await functionsOf(command.modules)) };
  file = files[0] === '-' ? '<stdin>' : files[0];
  const input = await readInput(files[0]);
  const { messages, view } = await project(input, options);
  if (command.json) return print(`${terminalSafeJson(JSON.stringify(view, null, 2))}\n`);

  const columns = process.stdout.columns ?? 80;
  const paint = painter(wantsColour());
  const rows = table(rowsOf(messages, view), { columns, paint, all: command.all });
  // Anthropic's requests have their system prompt beside the messages.
  const systemPrompt = input.value.system !== undefined;
  print(`${rows}\n\n${totals(view, { columns, paint, systemPrompt })}\n`);
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
    const at = /^messages\[(\d+)\]/.exec(error instanceof ProjectionError ? error.path : '');
    if (at && lines) throw new InputError(error.message, lines[at[1]]);
    throw error;
  }
}

function messagesOf(value) {
  return Array.isArray(value) ? value : value.messages;
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
