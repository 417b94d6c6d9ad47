// Taking the result along: projected messages and the event, as files. Made in the worker, saved from a blob.
import { button, element } from './dom.js';
import { grow } from './rows.js';
import { ignoreSuperseded } from './client.js';

/**
 * Buttons go to `place`, the event, which needs room, to `totals`.
 * ask(kind, question): asks the worker about the projection on show.
 */
export function renderDownloads(place, totals, projection, loaded, ask) {
  // A view that a provider may reject says so in its name.
  const preview = projection.respected ? '' : '.preview';
  const base =
    loaded.name
      .replace(/\.[a-z]+$/i, '')
      .replace(/[^\w.-]+/g, '-')
      .slice(0, 60) || 'transcript';
  const download = (label, what, title) => {
    const form = what === 'jsonl' ? 'jsonl' : 'json';
    const name = ['json', 'jsonl'].includes(what) ? 'provider' : what;
    return button(label, () => save(ask, what, `${base}.${name}${preview}.${form}`), { title });
  };
  const event = element('details', { class: 'event' }, element('summary', {}, 'Projection event'));
  event.addEventListener('toggle', async () => {
    if (!event.open || event.children.length > 1) return;
    const text = element('pre', { tabindex: 0, 'aria-label': 'Projection event as JSON' });
    event.append(text);
    try {
      grow(text, await ask('event', { from: 0 }), (from) => ask('event', { from }));
    } catch (error) {
      ignoreSuperseded(error);
    }
  });
  place.replaceChildren(
    element('h2', {}, 'Save'),
    download('To send, as JSON', 'json', 'the messages as the file spells them, without marks, which strict providers refuse'),
    download('To send, as JSON Lines', 'jsonl', 'the same, one message a line'),
    download('Projected messages', 'messages', 'as the model sees them, with the marks of the projection'),
    download('Projection event', 'event', 'the record of this decision'),
  );
  totals.append(event);
}

async function save(ask, what, name) {
  try {
    const blob = await ask('export', { what });
    const url = URL.createObjectURL(blob);
    const link = element('a', { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    // The download has begun by then; the blob may go.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch (error) {
    ignoreSuperseded(error);
  }
}
