/*
 * Previews and validates forms on the server while the user fills them in.
 * Shows the passkey forms, which stay hidden without scripts.
 */
(() => {
  'use strict';

  /** Requests the page of a form with its current values, without any effect. */
  async function fetchPreview(form, signal) {
    const body = new URLSearchParams(new FormData(form));
    body.set('_preview', 'true');
    const headers = { Accept: 'text/html' };
    const response = await fetch(form.action, { method: 'POST', body, headers, signal });
    if (!response.ok) return null;
    return new DOMParser().parseFromString(await response.text(), 'text/html');
  }

  let isPressed = false;
  document.addEventListener('pointerdown', () => (isPressed = true));
  for (const type of ['pointerup', 'pointercancel']) {
    document.addEventListener(type, () => (isPressed = false));
  }

  /** Waits for the release of a pressed pointer, because a button that moves misses the click. */
  const pointerReleased = () =>
    new Promise((resolve) => {
      if (!isPressed) return resolve();
      for (const type of ['pointerup', 'pointercancel']) {
        document.addEventListener(type, () => setTimeout(resolve, 50), { once: true });
      }
    });

  /** Returns a function that requests a preview, and aborts the previous request. */
  function previewer(form, apply) {
    let pending;
    return async () => {
      pending?.abort();
      pending = new AbortController();
      try {
        const page = await fetchPreview(form, pending.signal);
        await pointerReleased();
        if (page) apply(page);
      } catch {
        // The server reports errors on submission.
      }
    };
  }

  const documentAreas = (form) => [...form.querySelectorAll('textarea[data-check=yaml]')];

  function showPreview(form, page) {
    const preview = form.querySelector('[data-preview]');
    const shown = preview && page.getElementById(preview.id);
    if (shown) preview.replaceChildren(...shown.childNodes);
  }

  /** Replaces the fields whose choices depend on a changed field, except the field with the focus. */
  function showDependentFields(form, page, name) {
    for (const field of form.querySelectorAll(`[data-follows="${name}"]`)) {
      const next = page.getElementById(field.id);
      if (next && !field.contains(document.activeElement)) field.replaceWith(next);
    }
  }

  /** Shows the error that the server reports for a document. */
  function showDocumentError(area, page) {
    const error = page.getElementById(`${area.id}-errors`)?.textContent.trim() ?? '';
    document.getElementById(`${area.id}-errors`)?.remove();
    document.getElementById(`${area.id}-check`).textContent = error;
    area.setAttribute('aria-invalid', String(error !== ''));
  }

  /** Selects the browser's time zone in a new form that has the default, UTC. */
  function selectTimeZone(form, preview) {
    const zone = form.querySelector('[data-zone]');
    if (!zone || form.elements.namedItem('_method') || form.dataset.look !== 'new') return;
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const isKnown = [...zone.list.options].some(({ value }) => value === own);
    if (!isKnown || own === zone.value || zone.value !== 'UTC') return;
    zone.value = own;
    preview();
  }

  const { editor } = document.currentScript.dataset;

  /** Loads an editor when its text area becomes visible; many text areas are in collapsed sections. */
  const visibility = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      visibility.unobserve(target);
      void import(editor).then(({ edit }) => edit(target)).catch(() => undefined);
    }
  });
  for (const area of document.querySelectorAll('textarea[data-check]')) visibility.observe(area);

  for (const form of document.querySelectorAll('form[data-look]')) {
    const areas = documentAreas(form);
    let changedName = '';
    const preview = previewer(form, (page) => {
      showPreview(form, page);
      showDependentFields(form, page, changedName);
      const changed = areas.filter((area) => area.value !== area.defaultValue);
      for (const area of changed) showDocumentError(area, page);
    });
    const hasPreview = form.querySelector('[data-preview]') !== null;
    form.addEventListener('change', ({ target }) => {
      const hasDependents = form.querySelector(`[data-follows="${target.name}"]`) !== null;
      if (hasDependents) changedName = target.name;
      if (hasPreview || hasDependents || areas.includes(target)) void preview();
    });
    selectTimeZone(form, preview);
  }

  /** Gets a credential from the authenticator on submission. Shows the error of the form on failure. */
  function passkeys(form, { key, read, request }) {
    const PublicKey = window.PublicKeyCredential;
    if (typeof PublicKey?.[read] !== 'function') return;
    const error = form.querySelector('[role=alert]');
    form.hidden = false;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      error.hidden = true;
      try {
        const publicKey = PublicKey[read](JSON.parse(form.dataset[key]));
        const credential = await request({ publicKey });
        form.elements.namedItem('credential').value = JSON.stringify(credential.toJSON());
        form.submit();
      } catch {
        error.hidden = false;
      }
    });
  }

  for (const form of document.querySelectorAll('form[data-passkey-create]')) {
    const [key, read] = ['passkeyCreate', 'parseCreationOptionsFromJSON'];
    passkeys(form, { key, read, request: (options) => navigator.credentials.create(options) });
  }
  for (const form of document.querySelectorAll('form[data-passkey-get]')) {
    const [key, read] = ['passkeyGet', 'parseRequestOptionsFromJSON'];
    passkeys(form, { key, read, request: (options) => navigator.credentials.get(options) });
  }
})();
