// `npm start`: from a clean clone to a projected transcript, in the terminal and in the browser.
// `npm start -- --once` stops before it serves the page.
import { join } from 'node:path';
import { build } from './build.mjs';
import { Failure, main, root, run, say } from './lib.mjs';
import { serve } from './serve.mjs';
import { setup } from './setup.mjs';

const SAMPLE = 'www/samples/openai-fix-failing-test.json';

await main(async () => {
  const port = Number(process.env.PORT ?? 8080);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new Failure(`PORT is ${process.env.PORT}: a number from 0 to 65535 is needed.`);
  }
  await build(await setup());

  const policy = ['--policy', 'clean_tool_repair'];
  say(`in the terminal: npx transcript-projection project ${SAMPLE} ${policy.join(' ')}\n`);
  await run(process.execPath, [join(root, 'dist/cli.js'), 'project', SAMPLE, ...policy], { inherit: true });
  if (process.argv.includes('--once')) return;

  const { url } = await serve({ port });
  console.log('');
  say(`in the browser: ${url}   (Ctrl+C stops)`);
});
