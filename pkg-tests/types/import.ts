// Session files, seen by a strict consumer.
import {
  Importer,
  Transcript,
  detectFormat,
  exportMessages,
  importFormats,
  importTranscript,
  initImport,
  providerMessages,
  recoverRedacted,
  replayProjection,
  transcriptProject,
} from 'transcript-projection';
import type {
  ErrorCode,
  FormatDetection,
  ImportFormat,
  ImportOptions,
  ImportOutcome,
  ImportResult,
  ImportSource,
  ImportStats,
  ImportWarning,
  ImportWarningCode,
  Message,
  ProjectionMark,
  RedactionPointer,
} from 'transcript-projection';

declare function fetch(): Promise<Uint8Array>;
const bytes = new Uint8Array();
const options: ImportOptions = { format: 'claude_code', view: 'all', transcript: 2 };

const detection: FormatDetection = detectFormat(bytes);
const formats: ImportFormat[] = importFormats().map(({ format }) => format);
const result: ImportResult = importTranscript('text', options);
importTranscript(bytes);
importTranscript(bytes, null);
importTranscript(bytes, { format: 'auto', view: undefined });
importTranscript(bytes, { format: detection.format });

const transcript: Transcript<Message> = result.transcript;
const first: Message | undefined = transcript.messages[0];
const summary: string | null = result.summary ?? transcript.summary ?? null;
const places: ImportSource[] = result.source;
const raw: Uint8Array[] = places.map(({ start, end }) => bytes.subarray(start, end));
const numbers: number[] = places.flatMap(({ line, also_lines: more }) => [line ?? 0, ...(more ?? [])]);
const unseen: boolean = places.some(({ branch, sidechain }) => branch === 'compacted' || sidechain !== undefined);
const warnings: ImportWarning[] = result.warnings;
const line: number | null = warnings[0]?.line ?? null;
const code: ImportWarningCode = 'truncated';
const outcomes: ImportOutcome[] = result.outcomes.filter(({ refused, inferred }) => refused && !inferred);
const stats: ImportStats = result.stats;
const snapshots: number | undefined = stats.kinds['file-history-snapshot'];
const mistakes: ErrorCode[] = ['empty_file', 'unsupported_file', 'unknown_format'];

using importer = new Importer({ view: 'model' });
importer.push(bytes);
importer.push('text');
const inPieces: ImportResult = importer.finish();
importer.free();

// A Transcript is a transcript wherever one is taken.
const view = transcriptProject(transcript, 'reachability_gc');
for (const pointer of view.redaction_pointers) recoverRedacted(transcript, pointer);
replayProjection(transcript, view.event);
providerMessages(view);

// Marks are typed, though of the messages nothing is known.
for (const message of [...view.messages, ...transcript.project('summary_prefix').messages]) {
  const mark: ProjectionMark | undefined = message._harn_projection;
  if (mark?.synthetic) mark.policy satisfies 'summary_prefix' | 'compact';
  else if (mark?.redacted) mark.redaction_pointers satisfies readonly RedactionPointer[] | undefined;
  else if (mark?.trimmed) mark.hidden_tool_call_ids satisfies readonly string[] | undefined;
  // @ts-expect-error
  mark?.removed;
}
const sent: Message[] = providerMessages(transcript.project({ policy: detection ? 'raw' : 'summary_prefix' }));
// A caller who knows whose messages they are says it once.
interface Turn {
  role: 'user' | 'assistant';
  content: string;
}
const turns: Turn[] = providerMessages(transcriptProject(transcript.messages as unknown as Turn[], 'summary_prefix'));

const text: string = exportMessages(view, 'jsonl', 'anthropic');
exportMessages(view);
exportMessages(transcript.messages, 'json');

// @ts-expect-error
importTranscript(1);
importTranscript(new ArrayBuffer(1));
detectFormat(new DataView(bytes.buffer));
// @ts-expect-error
importTranscript([1]);
// @ts-expect-error
importTranscript(bytes, { format: 'word' });
// @ts-expect-error
importTranscript(bytes, { view: 'raw' });
// @ts-expect-error
importTranscript(bytes, { fromat: 'auto' });
// @ts-expect-error
detectFormat();
// @ts-expect-error
exportMessages(view, 'yaml');
// @ts-expect-error
exportMessages(view, 'json', 'openai');
// @ts-expect-error
result.stats.bytes = 1;
// @ts-expect-error
places[0].branch === 'gone';

await initImport();
await initImport(fetch());
export { code, first, formats, inPieces, line, mistakes, numbers, outcomes, raw, sent, snapshots, summary, text, turns, unseen };
