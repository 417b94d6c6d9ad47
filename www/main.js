// The page: what is loaded, what is projected, what is shown. Every part has its own module; this one joins them.
import { renderBanners, renderProblem } from './banners.js';
import { boot } from './boot.js';
import { ignoreSuperseded } from './client.js';
import { Controls } from './controls.js';
import { byId } from './dom.js';
import { renderDownloads } from './downloads.js';
import { renderFile } from './file.js';
import { Filters } from './filters.js';
import { Finder } from './finder.js';
import { countRows, listItems } from './items.js';
import { watchKeys } from './keys.js';
import { Overview } from './overview.js';
import { showSample, watchSources } from './loader.js';
import { SAMPLES } from './samples.js';
import { STATUS_NAMES } from './statuses.js';
import { Table } from './table.js';
import { count, label, plural } from './text.js';
import { renderTotals } from './totals.js';

const MANY = 200; // messages; of more than that, only the changes are listed at first
const AS_IT_IS = { format: 'auto', transcript: 0 };
const AROUND = 2; // rows that are opened on either side of one that is looked for in a fold

let client;
let formats = []; // that can be read
let source = null; // what was opened: { name, file } or { name, text }
let reading = AS_IT_IS; // how it is read
let loaded = null; // what the worker said of the file: { name, title, reason, stats, warnings, sizes, count, view, ... }
let projection = null; // what the worker said of the view
let context = null; // what the rows of that view need
let tasks = 0; // that the page waits for
let opened = new Uint8Array(0); // opened[i] = 1: row i was taken out of its fold

const controls = new Controls(byId('controls'), () => project());
const filters = new Filters(byId('filters'), () => list());
const table = new Table(byId('rows'), { openFold, onRender: () => finder.highlight(), top: stickyBottom });
const finder = new Finder({ ask: (kind, question) => context.ask(kind, question), goTo });
const overview = new Overview(goTo);
watchKeys(table, finder, () => projection);
watchWidth();
watchHashLinks();
watchStickyHeight();

start();

async function start() {
  try {
    const { client: started, samples } = await busy(boot());
    client = started;
    byId('local').dataset.locked = 'yes';
    byId('local').textContent = 'Runs here. Its network access is off.';
    formats = await client.ask('formats', {});
    watchSources(samples, open);
    byId('view').addEventListener('change', () => readAgain({}));
    const [{ file }] = SAMPLES;
    const hash = location.hash;
    await open({ name: file, text: samples.get(file) });
    if (hash) {
      history.replaceState(null, '', hash);
      await goToHash(hash);
    }
  } catch (error) {
    showProblem(error, 'The page could not start.');
  }
}

/** Reads something else, however the last file was read. */
async function open(newSource) {
  await load(newSource, AS_IT_IS);
}

/** Reads the same once more, in another way. */
async function readAgain(changes) {
  if (source !== null) await load(source, { ...reading, ...changes });
}

async function load(opening, how) {
  const { name, file, text } = opening;
  const view = byId('view').value;
  // Zero is what counts without being said: only then are other conversations warned of.
  const wanted = { format: how.format, view, transcript: how.transcript || undefined };
  showProblem(null);
  say(`Reading ${label(name, 80)}`);
  let answer;
  try {
    answer = await busy(client.latest('load', { name, file, text, reading: wanted }));
  } catch (error) {
    whenNotSuperseded(error, () => {
      showSample(loaded?.name);
      if (loaded !== null) {
        byId('view').value = loaded.view;
        renderAbout();
      }
      showProblem(error, `${label(name, 80)} could not be read.`);
    });
    return;
  }
  source = opening;
  reading = how;
  loaded = { ...answer, view };
  opened = new Uint8Array(loaded.count);
  projection = null;
  renderAbout();
  showSample(name);
  filters.choose(loaded.count > MANY ? 'changed' : 'all');
  history.replaceState(null, '', location.pathname + location.search);
  scrollTo({ top: 0, behavior: 'instant' });
  await project({ fresh: true });
}

function renderAbout() {
  renderFile(byId('about'), loaded, reading, formats, readAgain);
}

async function project({ fresh = false } = {}) {
  byId('panel-summary').textContent = `Policy: ${controls.title}`;
  if (loaded === null) return;
  let answer;
  try {
    answer = await busy(client.latest('project', { options: controls.options() }));
  } catch (error) {
    whenNotSuperseded(error, () => {
      const ofOptions = error.path?.startsWith('options') ?? false;
      controls.showError(ofOptions ? error : null);
      if (!ofOptions) showProblem(error, `${label(loaded.name, 80)} could not be projected.`);
      if (projection === null) clear();
      say('');
    });
    return;
  }
  controls.showError(null);
  projection = answer;
  const { generation, place, added } = projection;
  context = {
    ask: (kind, question) => client.ask(kind, { generation, ...question }),
    sizes: loaded.sizes,
    place: (key) => place[key],
    added: (key) => added[-1 - key],
  };
  const counts = countRows(projection);
  filters.show(counts);
  // A long transcript without changes would be an empty list.
  if (fresh && counts.changed === 0) filters.choose('all');
  overview.show(projection, loaded.sizes);
  renderBanners(byId('banners'), projection, loaded, controls);
  renderTotals(byId('totals'), projection, counts, loaded);
  renderDownloads(byId('downloads'), byId('totals'), projection, loaded, context.ask);
  await busy(list({ fresh }));
  byId('totals').dataset.policy = projection.policy;
  finder.search();
  say(`${plural(loaded.count, 'message')}, the model sees ${count(projection.seen)}: ${sentence(counts)}`);
}

const sentence = (counts) =>
  STATUS_NAMES.filter((name) => counts[name] > 0)
    .map((name) => `${count(counts[name])} ${name}`)
    .join(', ');

async function list(where) {
  if (projection === null) return;
  const items = listItems(projection, opened, filters.value);
  const shown = await table.list(items, context, where);
  if (!shown) return;
  const empty = byId('empty');
  empty.hidden = items.length > 0;
  empty.textContent =
    filters.value === 'changed'
      ? 'Nothing changed: the model sees all of it.'
      : loaded.count === 0
        ? 'There are no messages in it.'
        : `No message is ${filters.value}.`;
}

/** A transcript that cannot be projected must not stand beside the rows of the one before. */
function clear() {
  const nothing = { status: new Uint8Array(0), added: [] };
  filters.show(countRows(nothing));
  overview.show(nothing, []);
  for (const id of ['banners', 'totals', 'downloads']) byId(id).replaceChildren();
  table.list([], { ask: () => [] }, { fresh: true });
}

async function openFold(from, to, focus) {
  opened.fill(1, from, to);
  await list({ at: focus });
}

/** Shows a row wherever it is: opens its fold, or lists all when the filter hides it. Answers with its element. */
async function goTo(key) {
  if (projection === null || key >= loaded.count) return null;
  if (table.position(key) === undefined) {
    if (key >= 0) opened.fill(1, Math.max(0, key - AROUND), key + AROUND + 1);
    if (filters.value !== 'all') filters.choose('all');
    await list();
  }
  return table.reveal(key, { focus: !document.activeElement?.closest('.find') });
}

function watchHashLinks() {
  addEventListener('click', (event) => {
    const link = event.target instanceof Element && event.target.closest('a[href^="#r"]');
    if (!link || !/^#r\d+$/.test(link.hash)) return;
    event.preventDefault();
    history.pushState(null, '', link.hash);
    goToHash(link.hash);
  });
  addEventListener('hashchange', () => goToHash(location.hash));
}

async function goToHash(hash) {
  const index = /^#r(\d+)$/.exec(hash)?.[1];
  if (index !== undefined) await goTo(Number(index));
}

/** On a narrow screen the panel would push everything else out of sight: there it starts closed. */
function watchWidth() {
  const wide = matchMedia('(min-width: 901px)');
  const adapt = () => {
    byId('panel').open = wide.matches;
  };
  wide.addEventListener('change', adapt);
  adapt();
}

/** Rows that get the focus must not hide under the toolbar. */
function watchStickyHeight() {
  new ResizeObserver(() => {
    document.documentElement.style.setProperty('--sticky', `${byId('toolbar').offsetHeight}px`);
  }).observe(byId('toolbar'));
}

function stickyBottom() {
  return Math.max(0, byId('toolbar').getBoundingClientRect().bottom);
}

function whenNotSuperseded(error, then) {
  try {
    ignoreSuperseded(error);
  } catch {
    then();
  }
}

function showProblem(error, title) {
  renderProblem(byId('problem'), title, error, () => showProblem(null));
}

function say(text) {
  byId('status').textContent = text;
}

async function busy(work) {
  tasks += 1;
  document.body.classList.add('busy');
  try {
    return await work;
  } finally {
    tasks -= 1;
    if (tasks === 0) document.body.classList.remove('busy');
  }
}
