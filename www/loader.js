// The ways in: open, drop, paste, sample. Each ends in one call with { name, file } or { name, text }.
import { byId, element } from './dom.js';
import { SAMPLES } from './samples.js';

const LONG_PASTE = 100_000; // characters; more than that is not put into the text field first

export function watchSources(samples, onSource) {
  openButton(onSource);
  drop(onSource);
  paste(onSource);
  const select = byId('sample');
  select.append(
    element('option', { value: '' }, 'Choose…'),
    ...SAMPLES.map(({ file, title }) => element('option', { value: file }, title)),
  );
  select.addEventListener('change', () => {
    if (select.value !== '') onSource({ name: select.value, text: samples.get(select.value) });
  });
}

/** The select shows a sample only while that sample is what is shown. */
export function showSample(name) {
  byId('sample').value = SAMPLES.some(({ file }) => file === name) ? name : '';
}

function openButton(onSource) {
  const input = byId('file');
  byId('open').addEventListener('click', () => input.click());
  input.addEventListener('change', () => {
    const [file] = input.files;
    if (file) onSource({ name: file.name, file });
    input.value = ''; // so that the same file can be opened again
  });
}

function drop(onSource) {
  const sign = byId('drop');
  let own = false; // what is dragged is a piece of this page
  const isTranscript = ({ dataTransfer, target }) => {
    if (own || !dataTransfer) return false;
    if (dataTransfer.types.includes('Files')) return true;
    return dataTransfer.types.includes('text/plain') && !target.closest?.('input, textarea');
  };
  addEventListener('dragstart', () => {
    own = true;
  });
  addEventListener('dragend', () => {
    own = false;
  });
  addEventListener('dragover', (event) => {
    if (!isTranscript(event)) return;
    event.preventDefault();
    sign.hidden = false;
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) sign.hidden = true;
  });
  addEventListener('drop', (event) => {
    sign.hidden = true;
    if (!isTranscript(event)) return;
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    const text = event.dataTransfer.getData('text/plain');
    if (file) onSource({ name: file.name, file });
    else if (text) onSource({ name: 'dropped text', text });
  });
}

function paste(onSource) {
  const dialog = byId('paste-dialog');
  const field = byId('paste-text');
  const load = (text) => onSource({ name: 'pasted text', text });

  byId('paste').addEventListener('click', () => {
    field.value = '';
    dialog.returnValue = '';
    dialog.showModal();
    field.focus();
  });
  dialog.addEventListener('close', () => {
    if (dialog.returnValue === 'load') load(field.value);
  });
  addEventListener('paste', (event) => {
    const [file] = event.clipboardData.files;
    const text = event.clipboardData.getData('text/plain');
    const typing = event.target instanceof Element && event.target.closest('input, textarea, select');
    const tooLong = event.target === field && (file || text.length > LONG_PASTE);
    if (typing && !tooLong) return;
    if (!file && text === '') return;
    event.preventDefault();
    if (dialog.open) dialog.close('');
    if (file) onSource({ name: file.name, file });
    else load(text);
  });
}
