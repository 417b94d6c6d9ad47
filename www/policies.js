// The policies and their options as the page offers them. Defaults are the engine's own; nothing is sent for an option
// that is left as it is. What a value may be is the engine's to say: its errors are shown beside the control.

const material = (name, label, hint) => ({ name, label, hint, kind: 'json' });

export const POLICIES = [
  {
    name: 'raw',
    title: 'Raw',
    about: 'Everything as it is; only a hash is bound to it.',
    options: [],
  },
  {
    name: 'clean_tool_repair',
    title: 'Clean tool repair',
    about: 'Hides failed calls whose tool succeeded later.',
    options: [
      {
        name: 'repair_match',
        label: 'Repaired by a later',
        kind: 'choice',
        choices: [
          ['tool', 'success of the same tool'],
          ['target', 'success on the same target'],
        ],
      },
    ],
  },
  {
    name: 'squash_failed_calls',
    title: 'Squash failed calls',
    about: 'Hides turns that were nothing but failed calls.',
    options: [],
  },
  {
    name: 'summary_prefix',
    title: 'Summary prefix',
    about: 'One summary in place of all but the last messages.',
    options: [
      { name: 'keep_last', label: 'Keep last', hint: 'messages that stay as they are', kind: 'integer', initial: '0' },
      { name: 'keep_newest_user', label: 'Keep the newest user message too', kind: 'flag', initial: false },
      {
        name: 'summary_role',
        label: 'Role of the summary',
        kind: 'choice',
        choices: [
          ['system', 'system'],
          ['developer', 'developer'],
          ['user', 'user'],
        ],
      },
      { name: 'summary', label: 'Summary', hint: 'empty: the summary of the transcript', kind: 'text' },
    ],
  },
  {
    name: 'reachability_gc',
    title: 'Reachability GC',
    about: 'Pointers in place of old results nothing refers to.',
    options: [
      {
        name: 'root_window',
        label: 'Root window',
        hint: 'last messages whose references keep results',
        kind: 'integer',
        initial: '8',
      },
      {
        name: 'min_chars',
        label: 'Shortest body',
        hint: 'characters; shorter ones stay',
        kind: 'integer',
        initial: '500',
      },
      { name: 'require_write_barrier', label: 'Require a write barrier', kind: 'flag', initial: false },
      {
        title: 'More roots',
        options: [
          material('roots', 'Roots', 'JSON or text whose references keep results'),
          material('active_plan', 'Active plan'),
          material('scratchpad', 'Scratchpad'),
          material('pending_tool_args', 'Pending tool arguments'),
          material('unresolved_findings', 'Unresolved findings'),
        ],
      },
      {
        title: 'Write barriers',
        options: [
          material('write_barrier', 'Write barrier', 'says that the working memory was written down'),
          material('write_barrier_refs', 'Write barrier references'),
          material('barrier_refs', 'Barrier references'),
        ],
      },
    ],
  },
  {
    name: 'custom',
    title: 'Custom',
    about: 'A function decides. Here: one of three examples.',
    options: [
      {
        name: 'projector',
        label: 'Projector',
        kind: 'choice',
        required: true,
        choices: [
          ['drop_tracebacks', 'drop error results'],
          ['keep_last_ten', 'keep the last ten'],
          ['user_and_answers', 'keep what was said'],
        ],
      },
    ],
  },
];

/** Stands under the signature switch, and counts only while signatures are respected. */
export const CONFLICT = {
  name: 'on_signature_conflict',
  label: 'Where signed reasoning stands in the way of a change',
  hint: 'reasoning of the current turn always stays',
  kind: 'choice',
  choices: [
    ['raw', 'show all of it, raw'],
    ['skip', 'skip that change'],
    ['strip_reasoning', 'strip the reasoning'],
  ],
};

/** Options of every policy, but for those about signatures, which stand by themselves. */
export const COMMON = [
  {
    name: 'signature_scope',
    label: 'A signature vouches for',
    kind: 'choice',
    choices: [
      ['message', 'its own message'],
      ['prefix', 'everything before it too'],
    ],
  },
  { name: 'protect_open_turn', label: 'Leave the open turn alone', kind: 'flag', initial: true },
  { name: 'prefix_hash', label: 'Compute the prefix hash', kind: 'flag', initial: true },
  { name: 'reason', label: 'Reason', hint: 'recorded instead of the derived one', kind: 'text' },
];

/** What the page opens with: a policy that shows something at once. */
export const FIRST_POLICY = 'clean_tool_repair';
