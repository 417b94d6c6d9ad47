// The panel: policy, its options, the signature switch. Calls back with the options when any of them changes.
import { element } from './dom.js';
import { COMMON, CONFLICT, FIRST_POLICY, POLICIES } from './policies.js';
import { visible } from './text.js';

const TYPING = 200; // ms without a key before a text counts

export class Controls {
  #form;
  #onChange;
  #fields = new Map(); // option name -> { read, input, error }
  #switch;
  #conflictField;
  #general;
  #timer;
  #reported;

  constructor(form, onChange) {
    this.#form = form;
    this.#onChange = onChange;
    form.append(
      this.#policies(),
      this.#preview(),
      this.#conflict(),
      this.#group(
        'All policies',
        COMMON.map((option) => this.#field(option)),
      ),
    );
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('change', () => this.#changed(0));
    form.addEventListener('input', (event) => {
      if (event.target.matches('textarea, input[inputmode]')) this.#changed(TYPING);
    });
    this.#show();
  }

  get policy() {
    return this.#form.elements.policy.value;
  }

  /** The name of the policy for people. */
  get title() {
    return POLICIES.find(({ name }) => name === this.policy).title;
  }

  get respectsSignatures() {
    return !this.#switch.checked;
  }

  set respectsSignatures(value) {
    this.#switch.checked = !value;
    this.#changed(0);
  }

  /** What goes to the engine: the policy, and what differs from the defaults. */
  options() {
    const policy = POLICIES.find(({ name }) => name === this.policy);
    const options = { policy: policy.name };
    if (!this.respectsSignatures) options.respect_provider_signatures = false;
    const signatures = this.respectsSignatures ? [CONFLICT] : [];
    for (const { name } of [...flatten(policy.options), ...signatures, ...COMMON]) {
      const value = this.#fields.get(name).read();
      if (value !== undefined) options[name] = value;
    }
    return options;
  }

  /** Shows an error of the engine beside the control it is about; null takes it away. */
  showError(error) {
    for (const { input, error: place } of this.#fields.values()) {
      input.removeAttribute('aria-invalid');
      place.textContent = '';
    }
    this.#general.textContent = '';
    if (error === null) return;
    const name = /^options\.([a-z_]+)/.exec(error.path ?? '')?.[1];
    const field = this.#fields.get(name);
    if (field === undefined) {
      this.#general.textContent = visible(error.message);
      return;
    }
    field.input.setAttribute('aria-invalid', 'true');
    field.error.textContent = visible(error.message);
    const details = field.input.closest('details');
    if (details) details.open = true;
  }

  #changed(delay) {
    clearTimeout(this.#timer);
    this.#show();
    if (delay === 0) this.#report();
    else this.#timer = setTimeout(() => this.#report(), delay);
  }

  /** Leaving a field reports what was typed there a second time: new rows under the pointer would swallow the click. */
  #report() {
    const options = JSON.stringify(this.options());
    if (options === this.#reported) return;
    this.#reported = options;
    this.#onChange();
  }

  /** Only the options of the chosen policy are there, and what to do about signatures only where they count. */
  #show() {
    this.#conflictField.hidden = !this.respectsSignatures;
    for (const part of this.#form.querySelectorAll('[data-policy]')) part.hidden = part.dataset.policy !== this.policy;
  }

  #policies() {
    const list = element('fieldset', { class: 'policies' }, element('legend', {}, 'Policy'));
    for (const policy of POLICIES) {
      const about = element('span', { class: 'about', id: `about-${policy.name}` }, policy.about);
      const input = element('input', {
        type: 'radio',
        name: 'policy',
        value: policy.name,
        'aria-describedby': about.id,
        checked: policy.name === FIRST_POLICY,
      });
      list.append(
        element('label', { class: 'policy' }, input, element('span', { class: 'name' }, policy.title), about),
      );
      const options = this.#options(policy.options);
      if (options.length > 0)
        list.append(
          element(
            'div',
            { class: 'options', 'data-policy': policy.name, role: 'group', 'aria-label': `Options of ${policy.title}` },
            ...options,
          ),
        );
    }
    this.#general = element('p', { class: 'error', role: 'alert' });
    list.append(this.#general);
    return list;
  }

  #options(options) {
    return options.map((option) =>
      option.options ? this.#group(option.title, this.#options(option.options)) : this.#field(option),
    );
  }

  #group(title, fields) {
    return element('details', {}, element('summary', {}, title), ...fields);
  }

  #preview() {
    const hint = element(
      'span',
      { class: 'about', id: 'about-preview' },
      'Off: a projection that would break signed reasoning is refused.',
    );
    this.#switch = element('input', {
      type: 'checkbox',
      role: 'switch',
      id: 'ignore-signatures',
      'aria-describedby': hint.id,
    });
    return element(
      'label',
      { class: 'switch' },
      this.#switch,
      element('span', { class: 'name' }, 'Local preview: ignore provider signatures'),
      hint,
    );
  }

  #conflict() {
    this.#conflictField = element('div', { class: 'options signatures' }, this.#field(CONFLICT));
    return this.#conflictField;
  }

  #field(option) {
    const id = `option-${option.name}`;
    const hint = option.hint ? element('span', { class: 'hint', id: `hint-${option.name}` }, option.hint) : null;
    const error = element('p', { class: 'error', id: `error-${option.name}`, role: 'alert' });
    const described = { id, name: option.name, 'aria-describedby': hint ? `${error.id} ${hint.id}` : error.id };
    const { input, read } = KINDS[option.kind](option, described);
    this.#fields.set(option.name, { input, read, error });
    const label = element('label', { for: id }, option.label);
    const field = element(
      'div',
      { class: `field ${option.kind}` },
      ...(option.kind === 'flag' ? [input, label] : [label, input]),
    );
    if (hint) field.append(hint);
    field.append(error);
    return field;
  }
}

const flatten = (options) => options.flatMap((option) => option.options ?? [option]);

// Each kind: the control, and how to read what the engine gets; undefined is "as by default".
const KINDS = {
  integer({ initial }, attributes) {
    const input = element('input', { ...attributes, inputmode: 'numeric', value: initial, size: 6 });
    return {
      input,
      read() {
        const text = input.value.trim();
        if (text === '' || text === initial) return undefined;
        // Not a number: the engine says so, in its words.
        return Number.isNaN(Number(text)) ? text : Number(text);
      },
    };
  },
  flag({ initial }, attributes) {
    const input = element('input', { ...attributes, type: 'checkbox', checked: initial });
    return { input, read: () => (input.checked === initial ? undefined : input.checked) };
  },
  choice({ choices, required }, attributes) {
    const input = element(
      'select',
      attributes,
      ...choices.map(([value, label]) => element('option', { value }, label)),
    );
    return { input, read: () => (!required && input.value === choices[0][0] ? undefined : input.value) };
  },
  text(option, attributes) {
    const input = element('textarea', { ...attributes, rows: 2 });
    return { input, read: () => (input.value === '' ? undefined : input.value) };
  },
  /** JSON where it is JSON, else the text itself. */
  json(option, attributes) {
    const input = element('textarea', { ...attributes, rows: 2, spellcheck: 'false' });
    return {
      input,
      read() {
        if (input.value.trim() === '') return undefined;
        try {
          return JSON.parse(input.value);
        } catch {
          return input.value;
        }
      },
    };
  },
};
