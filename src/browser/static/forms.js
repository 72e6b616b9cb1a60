/*
 * Looks at forms while they are filled in: the server says what it would say. Nothing needs it.
 * Completes forms with a passkey, which stay hidden without scripts.
 */
(() => {
  'use strict';

  /** The form as the server shows it again, without anything being done. */
  async function lookedAt(form, signal) {
    const body = new URLSearchParams(new FormData(form));
    body.set('_look', 'true');
    const headers = { Accept: 'text/html' };
    const answer = await fetch(form.action, { method: 'POST', body, headers, signal });
    if (!answer.ok) return null;
    return new DOMParser().parseFromString(await answer.text(), 'text/html');
  }

  let isPressed = false;
  document.addEventListener('pointerdown', () => (isPressed = true));
  for (const type of ['pointerup', 'pointercancel']) {
    document.addEventListener(type, () => (isPressed = false));
  }

  /** A button that moves while it is pressed is missed: nothing changes until it is let go. */
  const released = () =>
    new Promise((resolve) => {
      if (!isPressed) return resolve();
      for (const type of ['pointerup', 'pointercancel']) {
        document.addEventListener(type, () => setTimeout(resolve, 50), { once: true });
      }
    });

  /** Only the newest look counts: what was asked for before it is given up. */
  function looker(form, use) {
    let pending;
    return async () => {
      pending?.abort();
      pending = new AbortController();
      try {
        const page = await lookedAt(form, pending.signal);
        await released();
        if (page) use(page);
      } catch {
        // The server says it all when the form is sent.
      }
    };
  }

  const areasOf = (form) => [...form.querySelectorAll('textarea[data-check=yaml]')];

  function showPreview(form, page) {
    const preview = form.querySelector('[data-preview]');
    const shown = preview && page.getElementById(preview.id);
    if (shown) preview.replaceChildren(...shown.childNodes);
  }

  /** Replaces the fields whose choices depend on a changed one, except the one being edited. */
  function showFollowers(form, page, name) {
    for (const field of form.querySelectorAll(`[data-follows="${name}"]`)) {
      const next = page.getElementById(field.id);
      if (next && !field.contains(document.activeElement)) field.replaceWith(next);
    }
  }

  /** The error of a document, with its line. */
  function showFault(area, page) {
    const told = page.getElementById(`${area.id}-errors`)?.textContent.trim() ?? '';
    document.getElementById(`${area.id}-errors`)?.remove();
    document.getElementById(`${area.id}-check`).textContent = told;
    area.setAttribute('aria-invalid', String(told !== ''));
  }

  /** The browser's time zone is the default. */
  function ownZone(form, look) {
    const zone = form.querySelector('[data-zone]');
    if (!zone || form.elements.namedItem('_method') || form.dataset.look !== 'new') return;
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const isKnown = [...zone.list.options].some(({ value }) => value === own);
    if (!isKnown || own === zone.value || zone.value !== 'UTC') return;
    zone.value = own;
    look();
  }

  const { editor } = document.currentScript.dataset;

  /** A document becomes an editor when it comes into view: many pages have one in a folded part. */
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      void import(editor).then(({ edit }) => edit(target)).catch(() => undefined);
    }
  });
  for (const area of document.querySelectorAll('textarea[data-check]')) seen.observe(area);

  for (const form of document.querySelectorAll('form[data-look]')) {
    const areas = areasOf(form);
    let changedName = '';
    const look = looker(form, (page) => {
      showPreview(form, page);
      showFollowers(form, page, changedName);
      const changed = areas.filter((area) => area.value !== area.defaultValue);
      for (const area of changed) showFault(area, page);
    });
    const isShown = form.querySelector('[data-preview]') !== null;
    form.addEventListener('change', ({ target }) => {
      const isFollowed = form.querySelector(`[data-follows="${target.name}"]`) !== null;
      if (isFollowed) changedName = target.name;
      if (isShown || isFollowed || areas.includes(target)) void look();
    });
    ownZone(form, look);
  }

  /** Asks the authenticator before the form is sent; a failure shows the message of the form. */
  function passkeys(form, { key, read, ask }) {
    const PublicKey = window.PublicKeyCredential;
    if (typeof PublicKey?.[read] !== 'function') return;
    const fault = form.querySelector('[role=alert]');
    form.hidden = false;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      fault.hidden = true;
      try {
        const publicKey = PublicKey[read](JSON.parse(form.dataset[key]));
        const credential = await ask({ publicKey });
        form.elements.namedItem('credential').value = JSON.stringify(credential.toJSON());
        form.submit();
      } catch {
        fault.hidden = false;
      }
    });
  }

  for (const form of document.querySelectorAll('form[data-passkey-create]')) {
    const read = 'parseCreationOptionsFromJSON';
    passkeys(form, { key: 'passkeyCreate', read, ask: (o) => navigator.credentials.create(o) });
  }
  for (const form of document.querySelectorAll('form[data-passkey-get]')) {
    const read = 'parseRequestOptionsFromJSON';
    passkeys(form, { key: 'passkeyGet', read, ask: (o) => navigator.credentials.get(o) });
  }
})();
