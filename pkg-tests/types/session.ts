// Sessions, as a strict consumer writes them.
import {
  AgentSession,
  type ArchiveEntry,
  type CacheReport,
  type CompactionSummary,
  type SessionReplay,
  type SessionView,
  type Settled,
  type SyntheticSummary,
  type TranscriptProjected,
  acpUpdate,
  providerMessages,
  recoverRedacted,
  transcriptEventsByKind,
} from 'transcript-projection';

interface Chat {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
}

using session = new AgentSession<Chat>({
  session_id: 's1',
  transcript: [{ role: 'user', content: 'go' }],
  transcript_projection: {
    policy: 'clean_tool_repair',
    batch: { min_reclaimed_tokens: 20_000, max_turns: 8, when_idle_ms: 300_000 },
    cache_prices: { read: 0.1, write: 1.25 },
  },
});

session.append({ role: 'assistant', content: 'yes' }, { role: 'user', content: 'good' });
// @ts-expect-error no message
session.append({ role: 'nobody', content: 'yes' });

const view: SessionView<Chat> = session.projectTurn();
const cache: CacheReport = view.cache;
const requests: number | null = cache.break_even_requests;
const held: readonly number[] = view.pending.indices;
const previous: string | null = view.event.metadata.session.previous_event_id;
session.projectTurn('raw');
session.projectTurn({ flush: true });
session.projectTurn({ policy: 'reachability_gc', root_window: 6, now: 5 });
session.projectTurn({ policy: 'custom', projector: (messages) => messages.slice(-4) });
session.projectTurn({ reason: 'because', on_signature_conflict: 'skip' });
// @ts-expect-error no policy
session.projectTurn({ policy: 'clean' });
// @ts-expect-error no option
session.projectTurn({ batch: { max_turn: 3 } });

// What earlier turns settled is there whatever the policy of the turn: also with raw.
const shown = session.projectTurn('raw');
if (shown.policy === 'raw') {
  const whole: (Chat | Settled<Chat> | SyntheticSummary<Chat> | CompactionSummary<Chat>)[] = shown.messages;
  for (const message of whole) {
    if (!('_harn_projection' in message)) continue;
    const mark = message._harn_projection;
    if (mark.synthetic) mark.policy satisfies 'summary_prefix' | 'compact';
    else mark satisfies { readonly trimmed?: true; readonly redacted?: true; readonly stripped?: true };
  }
  // @ts-expect-error a message may be none of the caller's
  const untouched: Chat[] = shown.messages;
  void untouched;
}
// What is sent is of the caller's type.
const sent: Chat[] = providerMessages(session.projectTurn({ policy: 'clean_tool_repair' }), 'openai_chat');
const sentList: Chat[] = providerMessages(view.messages);
// A projector gets the summaries of compactions too.
session.projectTurn({
  policy: 'custom',
  projector: (messages) => messages.filter((message) => '_harn_projection' in message || message.role !== 'tool'),
});

const stop: () => void = session.on('transcript_projected', (event: TranscriptProjected<Chat>) => {
  const policy: string = event.acp.update._meta.harn.policy;
  const count: number = event.view.kept_count;
  return void [policy, count];
});
// @ts-expect-error no such event
session.on('projected', stop);

session.setScratchpad({ open: ['a.rs'] }, 'turn-3');
session.setScratchpad(null);
const entry: ArchiveEntry<Chat> | null = session.compact({ every: 50, keep_last: 10 });
const gone = entry?.messages[0]?.content;
entry?.summary satisfies CompactionSummary<Chat> | undefined;
session.compact(10);

const replay: SessionReplay<Chat> = session.replay(view.event.id);
const path: string | undefined = replay.first_difference?.path;
const again = AgentSession.fromJSON<Chat>(JSON.stringify(session), { verify: false });
AgentSession.fromJSON<Chat>(session.toJSON());
const work: number = again.work.messages_read + session.length + session.archive.length;

const events = transcriptEventsByKind(session.transcript, 'transcript.projection');
acpUpdate(session.session_id, view);
providerMessages(view, 'anthropic');
for (const pointer of view.redaction_pointers) recoverRedacted(session.transcript, pointer);

export default [requests, held, previous, gone, path, work, events, sent, sentList];
