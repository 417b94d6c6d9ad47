import { providerMessages, transcriptProject } from 'transcript-projection';

const call = (id, cmd) => ({ id, type: 'function', function: { name: 'bash', arguments: JSON.stringify({ cmd }) } });
const messages = [
  { role: 'user', content: 'Run the tests.' },
  { role: 'assistant', content: null, tool_calls: [call('c1', 'npm tset')] },
  { role: 'tool', tool_call_id: 'c1', content: 'Error: Unknown command: "tset"' },
  { role: 'assistant', content: null, tool_calls: [call('c2', 'npm test')] },
  { role: 'tool', tool_call_id: 'c2', content: '12 passed' },
];

const view = transcriptProject(messages, { policy: 'clean_tool_repair' });

console.log(view.kept_indices); // [ 0, 3, 4 ]
console.log(view.hidden_calls[0].reason); // later_success_at_index_3
console.log(view.messages[1] === messages[3]); // true: kept messages are your own objects
console.log(view.event.kind); // transcript.projection: append it, to know later what was sent
const body = { model: 'a-model', messages: providerMessages(view, 'openai_chat') };
