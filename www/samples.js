// The built-in samples, in samples/.

export const SAMPLES = [
  { file: 'openai-fix-failing-test.json', title: 'OpenAI: a failing test, fixed' },
  { file: 'anthropic-signed-thinking.json', title: 'Anthropic: signed thinking' },
];
