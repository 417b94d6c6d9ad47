// A consumer's mistakes: each must be an error, else the directive above it is one.
import {
  Transcript,
  acpUpdate,
  init,
  providerMessages,
  recoverRedacted,
  transcriptProject,
  transcriptProjectAsync,
  validateMessages,
} from 'transcript-projection';
import type { Message, ProjectionOptions } from 'transcript-projection';

const messages: Message[] = [];

// Unknown keys, in every policy.
// @ts-expect-error
transcriptProject(messages, { keep_lst: 3 });
// @ts-expect-error
transcriptProject(messages, { policy: 'raw', keepLast: 3 });
// @ts-expect-error
transcriptProject(messages, { policy: 'clean_tool_repair', match: 'tool' });
// @ts-expect-error
transcriptProject(messages, { policy: 'squash_failed_calls', keep: 1 });
// @ts-expect-error
transcriptProject(messages, { policy: 'summary_prefix', keep_lst: 3 });
// @ts-expect-error
transcriptProject(messages, { policy: 'reachability_gc', window: 3 });
// @ts-expect-error
transcriptProject(messages, { policy: 'custom', projector: (list) => list, keep: 3 });

// Unknown policies and values.
// @ts-expect-error
transcriptProject(messages, 'clean');
// @ts-expect-error
transcriptProject(messages, { policy: 'cleanToolRepair' });
// @ts-expect-error
transcriptProject(messages, { signature_scope: 'all' });
// @ts-expect-error
transcriptProject(messages, { policy: 'clean_tool_repair', repair_match: 'call' });
// @ts-expect-error
transcriptProject(messages, { policy: 'summary_prefix', summary_role: 'assistant' });

// Wrong types, also of options that the policy does not use.
// @ts-expect-error
transcriptProject(messages, { policy: 'summary_prefix', keep_last: '3' });
// @ts-expect-error
transcriptProject(messages, { policy: 'raw', keep_last: '3' });
// @ts-expect-error
transcriptProject(messages, { respect_provider_signatures: 'no' });
// @ts-expect-error
transcriptProject(messages, { is_error: () => 'yes' });

// A custom policy needs its projector, and a synchronous one here.
// @ts-expect-error
transcriptProject(messages, 'custom');
// @ts-expect-error
transcriptProject(messages, { policy: 'custom' });
// @ts-expect-error
transcriptProject(messages, { policy: 'custom', projector: async (list) => list });
// @ts-expect-error
transcriptProject(messages, { policy: 'custom', projector: () => 'text' });
// @ts-expect-error
void transcriptProjectAsync(messages, { policy: 'custom', projector: async () => 'text' });
// @ts-expect-error
const unfinished: ProjectionOptions = { policy: 'custom' };

// Input that is none.
// @ts-expect-error
transcriptProject('text');
// @ts-expect-error
transcriptProject(null);
// @ts-expect-error
transcriptProject({ message: [] });
// @ts-expect-error
transcriptProject(['text']);
// @ts-expect-error a text is no list of messages
transcriptProject({ model: 'a-model', input: 'text' });
// @ts-expect-error
transcriptProject({ model: 'a-model', contents: 'text' });

// Views are read, not written; only a custom one has violations.
const view = transcriptProject(messages, 'summary_prefix');
// @ts-expect-error
view.policy = 'raw';
// @ts-expect-error
view.violations.length;
// @ts-expect-error
view.prefix_hash.length;
// @ts-expect-error
view.keptIndices;

// The other functions.
// @ts-expect-error
providerMessages(view, 'openai');
// @ts-expect-error
recoverRedacted(messages, 'transcript.messages[1].content');
// @ts-expect-error
acpUpdate(1, view);
// @ts-expect-error
new Transcript();
// @ts-expect-error
Transcript.fromJSON({});
// @ts-expect-error
init(42);

export { unfinished };

// The validator.
// @ts-expect-error
validateMessages(messages, 'openai');
// @ts-expect-error
validateMessages(messages);
// @ts-expect-error
validateMessages('x', 'anthropic');
// @ts-expect-error
validateMessages({ message: [] }, 'anthropic');
// @ts-expect-error
validateMessages(messages, 'anthropic', { model: 7 });
