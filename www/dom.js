// Building elements. Text only ever goes in as text nodes: there is no way from a string to markup here.

/** element('button', { class: 'quiet', type: 'button' }, 'Text', child) */
export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    node.setAttribute(key, value === true ? '' : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function button(label, onClick, attributes = {}) {
  const node = element('button', { type: 'button', ...attributes }, label);
  node.addEventListener('click', onClick);
  return node;
}

export const byId = (id) => document.getElementById(id);

/** A link to a row. Row numbers are the only thing that ever gets into an address. */
export const rowLink = (index) => element('a', { href: `#r${index}` }, `#${index}`);

const SHAPES = {
  kept: 'M3 8.5 6.5 12 13 4.5',
  dropped: 'M4 4 12 12 M12 4 4 12',
  trimmed: 'M3 4 H13 M3 8 H7.5 M3 12 H13',
  redacted: 'M2.5 5 H13.5 V11 H2.5 Z M5 8 H11',
  summary: 'M12 3.5 H4.5 L9 8 4.5 12.5 H12',
  added: 'M8 3 V13 M3 8 H13',
  stripped: 'M8 2.5 V13.5 M4.5 5.5 H2.5 V10.5 H4.5 M11.5 5.5 H13.5 V10.5 H11.5',
};

/** The shape of a status: a second sign beside its word, so that colour is never the only one. */
export function shape(status) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', SHAPES[status]);
  svg.append(path);
  return svg;
}
