/* Makes the pages nicer to use. Everything works without it. */
(() => {
  'use strict';

  const root = document.documentElement;
  root.classList.add('js');

  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  /** The theme changes at once; the cookie tells the server for the next page. */
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

  /** Says at once what the server would say: it checks again. */
  function documentCheck(area) {
    const note = element('p', { className: 'errors', id: `${area.id}-check` });
    note.setAttribute('role', 'status');
    area.after(note);
    const described = area.getAttribute('aria-describedby');
    area.setAttribute('aria-describedby', described ? `${described} ${note.id}` : note.id);
    area.addEventListener('input', () => {
      const fault = faultOf(area.value, area.dataset.check);
      note.textContent = fault;
      area.setAttribute('aria-invalid', String(fault !== ''));
    });
  }

  function faultOf(text, kind) {
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
    return tabbed < 0 ? '' : `YAML is indented with spaces: line ${tabbed + 1} has a tab.`;
  }

  const labelOf = (item) => {
    const template = item.summary_fields?.unified_job_template?.name;
    const name = item.name || item.username || item.hostname || template || `#${item.id}`;
    const {
      resource_name: object,
      resource_type_display_name: kind,
      organization,
    } = item.summary_fields ?? {};
    // A role is told by what it allows and on what.
    if (object !== undefined) return { name: `${name} on ${object}`, owner: kind };
    return { name, owner: organization?.name ?? '' };
  };

  /** Objects that were found, each with the value that chooses it. */
  const choicesOf = (items, { below, kinds }) =>
    items.map((item) => {
      const { name, owner } = labelOf(item);
      const kind = kinds > 1 && item.type !== undefined ? [item.type] : [];
      const value = below === undefined ? String(item.id) : item.url + below;
      return { id: value, name, owner: [...kind, owner].filter(Boolean).join(', ') };
    });

  /** Turns a select, or a box for an id, into a box that searches (ARIA 1.2 combobox). */
  function picker(control) {
    const isSelect = control instanceof HTMLSelectElement;
    const chosenText = isSelect
      ? control.value && control.selectedOptions[0].textContent.trim()
      : control.dataset.label || control.value;
    const value = element('input', { type: 'hidden', name: control.name, value: control.value });
    const box = element('input', { id: control.id, type: 'text', autocomplete: 'off' });
    const list = element('ul', { id: `${control.id}-list`, hidden: true });
    const holder = element('div', { className: 'picker' }, value, box, list);
    box.value = chosenText || '';
    box.required = control.required;
    box.placeholder = 'Search…';
    const given = { role: 'combobox', 'aria-expanded': 'false', 'aria-controls': list.id };
    for (const [name, text] of Object.entries({ ...given, 'aria-autocomplete': 'list' })) {
      box.setAttribute(name, text);
    }
    for (const name of ['aria-describedby', 'aria-invalid']) {
      if (control.hasAttribute(name)) box.setAttribute(name, control.getAttribute(name));
    }
    list.setAttribute('role', 'listbox');
    list.setAttribute('aria-label', 'Matches');
    control.replaceWith(holder);
    comboBehaviour({ box, list, value, source: control.dataset });
  }

  function comboBehaviour({ box, list, value, source }) {
    const { search: parameter = 'search', below } = source;
    const lists = source.picker.split(' ');
    let label = box.value;
    let active = -1;
    let timer;
    let latest = 0;

    const close = () => {
      list.hidden = true;
      active = -1;
      box.setAttribute('aria-expanded', 'false');
      box.removeAttribute('aria-activedescendant');
    };
    const isOpen = () => value.value === '' && box.value.trim() !== '';
    /** A form with a text that chooses nothing is not sent without it. */
    const judge = () => {
      box.setCustomValidity(isOpen() ? 'Choose one of the matches, or clear the field.' : '');
    };
    const choose = (item) => {
      // Results of an earlier search must not open the list again.
      clearTimeout(timer);
      latest++;
      value.value = item.id;
      label = item.name;
      box.value = item.name;
      value.dispatchEvent(new Event('change', { bubbles: true }));
      judge();
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
      const answer = await fetch(url, { headers: { Accept: 'application/json' } });
      return answer.ok ? ((await answer.json()).results ?? []) : [];
    };
    const search = async (text) => {
      const turn = ++latest;
      try {
        const found = await Promise.all(lists.map((path) => find(path, text)));
        if (turn === latest && document.activeElement === box) {
          show(choicesOf(found.flat(), { below, kinds: lists.length }));
        }
      } catch {
        close();
      }
    };

    box.addEventListener('input', () => {
      const isId = below === undefined && /^\d+$/.test(box.value.trim());
      value.value = isId ? box.value.trim() : '';
      judge();
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
      } else if (event.key === 'Enter' && isOpen()) {
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
      latest++;
      close();
      if (box.value.trim() === '') value.value = '';
      judge();
    });
  }

  /** Closes a menu at a click elsewhere and by Escape. */
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

  /** A link to a folded form opens it, also where the browser does not do so itself. */
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

  /** Shows an instant in UTC in the time zone of the browser, near ones also by their distance. */
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
    const [unit, size] = UNITS.find(([, one]) => Math.abs(seconds) >= one) ?? ['second', 1];
    const distance = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
    time.textContent = `${clock}, ${distance.format(Math.trunc(seconds / size), unit)}`;
  }

  /** Converts the times of a page, also of one that another script has loaded. */
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
  // The page of a form begins in its first field, or in the first one with an error.
  const fields = 'input:not([type=hidden]), select, textarea';
  if (!location.hash) {
    const form = document.querySelector('section.form');
    (form?.querySelector('[aria-invalid=true]') ?? form?.querySelector(fields))?.focus();
  }
  // A refusal is shown where the user looks; the cause of a failed run stands below its title.
  document.querySelector('.message.error[role=alert]')?.scrollIntoView({ block: 'center' });
})();
