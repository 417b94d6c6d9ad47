// How many requests would be refused that were valid before something was pruned? The same sessions go through each
// library's own pruning, and through ours of the same messages, then through the library's own provider. What that would
// send is judged by validateMessages. See benches/README.md.
import {
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  trimMessages,
} from '@langchain/core/messages';
import { pruneMessages } from 'ai';
import { ClearToolUsesEdit, countTokensApproximately as countTokens } from 'langchain';
import { providerMessages, transcriptProject, validateMessages } from '../../dist/node.js';
import { senders } from './send.mjs';
import { forAiSdk, forLangChain, sessionOf, unsigned } from './sessions.mjs';

const SESSIONS = Number(process.env.SESSIONS ?? 500);

// Each column is a provider and what its request is judged with beside the messages. Manual thinking wants an open turn
// to begin with reasoning. The newest Claude models bind each signature to all that precedes it: there the request without
// pruning is what the model saw.
const COLUMNS = [
  { title: 'Anthropic', provider: 'anthropic', judgedWith: () => ({}) },
  {
    title: 'Anthropic, manual thinking',
    provider: 'anthropic',
    judgedWith: ({ thinks }) => (thinks ? { thinking: { type: 'enabled', budget_tokens: 2048 } } : {}),
  },
  {
    title: 'Anthropic, binding model',
    provider: 'anthropic',
    judgedWith: (_, unpruned) => ({ model: 'claude-fable-5-2', original_messages: unpruned.messages }),
  },
  { title: 'OpenAI Chat', provider: 'openai_chat', judgedWith: () => ({}) },
];

const POLICIES = [
  { policy: 'raw' },
  { policy: 'clean_tool_repair' },
  { policy: 'squash_failed_calls' },
  { policy: 'summary_prefix', keep_last: 10 },
  { policy: 'reachability_gc' },
];

/** Our policies over the messages of a library: as they are, then for models that bind. */
function ours(project) {
  return [{}, { signature_scope: 'prefix' }].flatMap((more) =>
    POLICIES.map((policy) => {
      const options = { ...policy, ...more };
      const settings = Object.entries(options).slice(1).map(([name, value]) => `, ${name} ${value}`);
      return [`ours: ${options.policy}${settings.join('')}`, (messages, provider) => project(messages, options, provider)];
    }),
  );
}

const pruned = (options) => [
  `pruneMessages: ${Object.entries(options).map(([name, value]) => `${name} ${value}`).join(', ')}`,
  (messages) => pruneMessages({ messages, ...options }),
];

const trimmed = (name, options) => [
  `trimMessages: ${name}`,
  (messages) => trimMessages(messages, { strategy: 'last', tokenCounter: ({ length }) => length, includeSystem: true, ...options }),
];

/** What contextEditingMiddleware does to the messages of a request, from the first token on and not only in long sessions. */
async function cleared(messages) {
  const list = [...messages];
  await new ClearToolUsesEdit({ trigger: { tokens: 1 } }).apply({ messages: list, countTokens });
  return list;
}

const LIBRARIES = {
  'AI SDK': {
    messagesOf: forAiSdk,
    prunings: [
      // What its reference page shows, its strictest setting that keeps open calls, and a longer window.
      pruned({ reasoning: 'before-last-message', toolCalls: 'before-last-2-messages' }),
      pruned({ reasoning: 'all', toolCalls: 'before-last-message' }),
      pruned({ toolCalls: 'before-last-20-messages' }),
      // The SDK refuses system messages in the list, so a summary is the user's.
      ...ours((messages, options, provider) =>
        providerMessages(transcriptProject(messages, { summary_role: 'user', ...options }), provider),
      ),
    ],
  },
  LangChain: {
    messagesOf: (session) => mapStoredMessagesToChatMessages(forLangChain(session)),
    prunings: [
      // The example of its documentation, and that of LangChain's guide to short-term memory; both count messages.
      trimmed('last 10', { maxTokens: 10 }),
      trimmed('last 10, start on human, end on human or tool', {
        maxTokens: 10,
        startOn: 'human',
        endOn: ['human', 'tool'],
      }),
      ['contextEditingMiddleware: all results but the last 3', cleared],
      ...ours((messages, options, provider) => {
        const view = transcriptProject(mapChatMessagesToStoredMessages(messages), options);
        return mapStoredMessagesToChatMessages(providerMessages(view, provider));
      }),
    ],
  },
};

const sessions = Array.from({ length: SESSIONS }, (_, seed) => sessionOf(seed));

for (const [library, { messagesOf, prunings }] of Object.entries(LIBRARIES)) {
  const titles = ['', ...COLUMNS.map(({ title }) => title), 'sent', 'why'];
  console.log(`\n${library}, ${SESSIONS} sessions: requests refused\n`);
  printRow(titles);
  printRow(titles.map(() => '---'));
  const cases = ['anthropic', 'openai_chat'].flatMap((provider) =>
    sessions.map((session) => ({ provider, session: provider === 'anthropic' ? session : unsigned(session) })),
  );
  for (const one of cases) {
    one.unpruned = (await senders[library][one.provider](messagesOf(one.session), one.session)).body;
  }
  for (const [name, prune] of [['nothing pruned', (messages) => messages], ...prunings]) {
    const refused = COLUMNS.map(() => 0);
    const rules = new Map();
    let sent = 0;
    let all = 0;
    for (const { provider, session, unpruned } of cases) {
      const messages = await prune(messagesOf(session), provider);
      const request = await senders[library][provider](messages, session);
      sent += sizeOf(request.body?.messages);
      all += sizeOf(unpruned.messages);
      for (const [column, { judgedWith, ...of }] of COLUMNS.entries()) {
        if (of.provider !== provider) continue;
        const broken = rulesBroken(request, provider, judgedWith(session, unpruned));
        if (broken.size > 0) refused[column] += 1;
        for (const rule of broken) rules.set(rule, (rules.get(rule) ?? 0) + 1);
      }
    }
    const why = [...rules].sort(([, a], [, b]) => b - a).slice(0, 3);
    printRow([
      name,
      ...refused,
      `${((100 * sent) / all).toFixed(0)} %`,
      why.map(([rule, count]) => `${rule} (${count})`).join(', '),
    ]);
  }
}

function printRow(cells) {
  console.log(`| ${cells.join(' | ')} |`);
}

function sizeOf(messages) {
  return JSON.stringify(messages ?? []).length;
}

/** The rules for which a provider would refuse. That the library makes no request at all counts as one. */
function rulesBroken({ body, error }, provider, more) {
  if (error) return new Set(['not sent']);
  const violations = validateMessages({ ...body, ...more }, provider);
  return new Set(violations.filter(({ severity }) => severity === 'error').map(({ rule }) => rule));
}
