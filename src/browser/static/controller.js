/* Progressive enhancement: every page works without this script. */
(() => {
  'use strict';

  const root = document.documentElement;
  root.classList.add('js');

  const element = (tag, properties = {}, ...children) => {
    const created = Object.assign(document.createElement(tag), properties);
    created.append(...children);
    return created;
  };

  /** Switches the theme without a reload. The cookie keeps the choice for the next pages. */
  function themeSwitch(form) {
    form.addEventListener('submit', (event) => {
      const theme = event.submitter?.value;
      if (!theme) return;
      event.preventDefault();
      const secure = location.protocol === 'https:' ? '; Secure' : '';
      document.cookie = `theme=${theme}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
      root.dataset.theme = theme;
      for (const button of form.querySelectorAll('button')) {
        button.setAttribute('aria-pressed', String(button.value === theme));
      }
    });
  }

  function copyButton(box) {
    const button = element('button', { type: 'button', className: 'small', textContent: 'Copy' });
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(box.querySelector('pre').textContent);
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 2000);
    });
    box.append(button);
  }

  /** Shows syntax errors while the user types. The server validates again. */
  function documentCheck(area) {
    const note = element('p', { className: 'errors', id: `${area.id}-check` });
    note.setAttribute('role', 'status');
    area.after(note);
    const described = area.getAttribute('aria-describedby');
    area.setAttribute('aria-describedby', described ? `${described} ${note.id}` : note.id);
    area.addEventListener('input', () => {
      const error = syntaxErrorOf(area.value, area.dataset.check);
      note.textContent = error;
      area.setAttribute('aria-invalid', String(error !== ''));
    });
  }

  function syntaxErrorOf(text, kind) {
    const trimmed = text.trim();
    if (trimmed === '') return '';
    if (kind === 'json' || /^[[{]/.test(trimmed)) {
      try {
        JSON.parse(trimmed);
        return '';
      } catch (error) {
        return kind === 'json' ? `Not valid JSON: ${error.message}` : '';
      }
    }
    const tabbed = text.split('\n').findIndex((line) => /^ *\t/.test(line));
    return tabbed < 0 ? '' : `Line ${tabbed + 1} is indented with a tab. Use spaces.`;
  }

  const labelOf = (item) => {
    const template = item.summary_fields?.unified_job_template?.name;
    const name = item.name || item.username || item.hostname || template || `#${item.id}`;
    const {
      resource_name: object,
      resource_type_display_name: kind,
      organization,
    } = item.summary_fields ?? {};
    // The label of a role contains its object.
    if (object !== undefined) return { name: `${name} on ${object}`, owner: kind };
    return { name, owner: organization?.name ?? '' };
  };

  /** Converts objects to options. The value is the id, or with `below` a path under the object's URL. */
  const optionsOf = (items, { below, kinds }) =>
    items.map((item) => {
      const { name, owner } = labelOf(item);
      const kind = kinds > 1 && item.type !== undefined ? [item.type] : [];
      const value = below === undefined ? String(item.id) : item.url + below;
      return { id: value, name, owner: [...kind, owner].filter(Boolean).join(', ') };
    });

  /** Replaces a select, or an input for an id, with a search box (ARIA 1.2 combobox). */
  function picker(control) {
    const isSelect = control instanceof HTMLSelectElement;
    const selectedText = isSelect
      ? control.value && control.selectedOptions[0].textContent.trim()
      : control.dataset.label || control.value;
    const value = element('input', { type: 'hidden', name: control.name, value: control.value });
    const box = element('input', { id: control.id, type: 'text', autocomplete: 'off' });
    const list = element('ul', { id: `${control.id}-list`, hidden: true });
    const wrapper = element('div', { className: 'picker' }, value, box, list);
    box.value = selectedText || '';
    box.required = control.required;
    box.placeholder = 'Search…';
    const attributes = { role: 'combobox', 'aria-expanded': 'false', 'aria-controls': list.id };
    for (const [name, text] of Object.entries({ ...attributes, 'aria-autocomplete': 'list' })) {
      box.setAttribute(name, text);
    }
    for (const name of ['aria-describedby', 'aria-invalid']) {
      if (control.hasAttribute(name)) box.setAttribute(name, control.getAttribute(name));
    }
    list.setAttribute('role', 'listbox');
    list.setAttribute('aria-label', 'Matches');
    control.replaceWith(wrapper);
    comboBehavior({ box, list, value, source: control.dataset });
  }

  function comboBehavior({ box, list, value, source }) {
    const { search: parameter = 'search', below } = source;
    const lists = source.picker.split(' ');
    let label = box.value;
    let active = -1;
    let timer;
    let latestSearch = 0;

    const close = () => {
      list.hidden = true;
      active = -1;
      box.setAttribute('aria-expanded', 'false');
      box.removeAttribute('aria-activedescendant');
    };
    const isUnresolved = () => value.value === '' && box.value.trim() !== '';
    /** Prevents submission of a text that selects no match. */
    const updateValidity = () => {
      box.setCustomValidity(isUnresolved() ? 'Choose one of the matches, or clear the field.' : '');
    };
    const choose = (item) => {
      // Results of an earlier search must not open the list again.
      clearTimeout(timer);
      latestSearch++;
      value.value = item.id;
      label = item.name;
      box.value = item.name;
      value.dispatchEvent(new Event('change', { bubbles: true }));
      updateValidity();
      close();
    };
    const move = (step) => {
      const options = [...list.querySelectorAll('[role=option]')];
      if (options.length === 0) return;
      active = (active + step + options.length) % options.length;
      options.forEach((option, index) => {
        option.setAttribute('aria-selected', String(index === active));
      });
      options[active].scrollIntoView({ block: 'nearest' });
      box.setAttribute('aria-activedescendant', options[active].id);
    };
    const show = (items) => {
      list.replaceChildren(
        ...items.map((item, index) => {
          const option = element('li', { id: `${list.id}-${index}`, textContent: item.name });
          option.setAttribute('role', 'option');
          option.setAttribute('aria-selected', 'false');
          if (item.owner) option.append(' ', element('small', { textContent: item.owner }));
          option.addEventListener('mousedown', (event) => {
            event.preventDefault();
            choose(item);
          });
          option.choose = () => choose(item);
          return option;
        }),
      );
      active = -1;
      list.hidden = items.length === 0;
      box.setAttribute('aria-expanded', String(items.length > 0));
    };
    const find = async (path, text) => {
      const url = new URL(path, location.origin);
      url.searchParams.set('page_size', '20');
      url.searchParams.set('count_disabled', '1');
      if (text.trim() !== '') url.searchParams.set(parameter, text);
      const response = await fetch(url, { headers: { Accept: 'application/json' } });
      return response.ok ? ((await response.json()).results ?? []) : [];
    };
    const search = async (text) => {
      const current = ++latestSearch;
      try {
        const found = await Promise.all(lists.map((path) => find(path, text)));
        if (current === latestSearch && document.activeElement === box) {
          show(optionsOf(found.flat(), { below, kinds: lists.length }));
        }
      } catch {
        close();
      }
    };

    box.addEventListener('input', () => {
      const isId = below === undefined && /^\d+$/.test(box.value.trim());
      value.value = isId ? box.value.trim() : '';
      updateValidity();
      clearTimeout(timer);
      timer = setTimeout(() => void search(box.value), 200);
    });
    box.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        event.preventDefault();
        if (list.hidden) void search(box.value === label ? '' : box.value);
        else move(event.key === 'ArrowDown' ? 1 : -1);
      } else if (event.key === 'Enter' && !list.hidden && active >= 0) {
        event.preventDefault();
        list.querySelectorAll('[role=option]')[active].choose();
      } else if (event.key === 'Enter' && isUnresolved()) {
        event.preventDefault();
        const options = list.hidden ? [] : list.querySelectorAll('[role=option]');
        if (options.length === 1) options[0].choose();
        else void search(box.value);
      } else if (event.key === 'Escape') close();
    });
    box.addEventListener('click', () => {
      if (list.hidden) void search('');
    });
    box.addEventListener('blur', () => {
      clearTimeout(timer);
      latestSearch++;
      close();
      if (box.value.trim() === '') value.value = '';
      updateValidity();
    });
  }

  /** Closes a menu on a click outside of it, and on Escape. */
  function menu(box) {
    document.addEventListener('click', ({ target }) => {
      if (!box.contains(target)) box.open = false;
    });
    box.addEventListener('keydown', ({ key }) => {
      if (key !== 'Escape' || !box.open) return;
      box.open = false;
      box.querySelector('summary').focus();
    });
  }

  /** Opens the collapsed section that a link targets, which not every browser does. */
  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const section = target && target.closest('details');
    if (!section) return;
    section.open = true;
    if (target.matches('.ln')) return target.scrollIntoView({ block: 'center' });
    section.scrollIntoView();
    section.querySelector('input:not([type=hidden]), select, textarea, .folded button')?.focus();
  }

  const UNITS = [
    ['hour', 3600],
    ['minute', 60],
    ['second', 1],
  ];
  const DAY_SECONDS = 86_400;

  /** Converts a UTC time to the browser's time zone. Within a day, a relative time replaces the date. */
  function localTime(time) {
    const instant = new Date(time.dateTime);
    if (Number.isNaN(instant.getTime()) || !time.textContent.endsWith(' UTC')) return;
    time.title = time.textContent;
    const pad = (number) => String(number).padStart(2, '0');
    const clock = `${pad(instant.getHours())}:${pad(instant.getMinutes())}`;
    const seconds = Math.round((instant - Date.now()) / 1000);
    if (Math.abs(seconds) >= DAY_SECONDS) {
      const day = `${instant.getFullYear()}-${pad(instant.getMonth() + 1)}-${pad(instant.getDate())}`;
      time.textContent = `${day} ${clock}`;
      return;
    }
    const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
    const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
    time.textContent = `${clock}, ${relative.format(Math.trunc(seconds / size), unit)}`;
  }

  /** Converts the times of a page. Other scripts call it for the pages they load. */
  globalThis.showLocalTimes = (page) => page.querySelectorAll('time').forEach(localTime);
  globalThis.showLocalTimes(document);

  const enhance = (selector, apply) => document.querySelectorAll(selector).forEach(apply);
  enhance('[data-submit]', (form) => form.submit());
  enhance('[data-theme-switch]', themeSwitch);
  enhance('[data-menu]', menu);
  enhance('[data-copy]', copyButton);
  enhance('[data-check]', documentCheck);
  enhance('[data-picker]', picker);
  window.addEventListener('hashchange', reveal);
  reveal();
  // Focuses the first invalid field of a form page, or else the first field.
  const fields = 'input:not([type=hidden]), select, textarea';
  if (!location.hash) {
    const form = document.querySelector('section.form');
    (form?.querySelector('[aria-invalid=true]') ?? form?.querySelector(fields))?.focus();
  }
  // Scrolls to a form error. The cause of a failed run has no role `alert` and does not scroll.
  document.querySelector('.message.error[role=alert]')?.scrollIntoView({ block: 'center' });
})();
