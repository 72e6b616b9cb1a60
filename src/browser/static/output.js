/* Tools for the output of a run: follow, next failure, filters, wrap, full screen, event details. */
(() => {
  'use strict';

  const section = document.getElementById('output');
  const output = section?.querySelector('.stdout');
  if (!output) return;
  const rows = () => [...output.getElementsByClassName('row')];

  const button = (label, onClick, { isSwitch = false, isOn = false } = {}) => {
    const element = document.createElement('button');
    Object.assign(element, { type: 'button', className: 'small', textContent: label });
    if (isSwitch) element.setAttribute('aria-pressed', String(isOn));
    element.addEventListener('click', () => {
      const next = element.getAttribute('aria-pressed') !== 'true';
      if (isSwitch) element.setAttribute('aria-pressed', String(next));
      onClick(next);
    });
    return element;
  };

  function nextFailure() {
    const failed = rows().filter((row) => /^(failed|unreachable)$/.test(row.dataset.state ?? ''));
    const current = failed.findIndex((row) => row.classList.contains('current'));
    failed[current]?.classList.remove('current');
    const next = failed[(current + 1) % failed.length];
    if (!next) return;
    next.classList.add('current');
    const fold = next.closest('details');
    if (fold) fold.open = true;
    next.scrollIntoView({ block: 'center' });
  }

  const select = (label, values) => {
    const element = document.createElement('select');
    element.setAttribute('aria-label', label);
    element.append(new Option(label, ''), ...values.map((value) => new Option(value, value)));
    element.addEventListener('change', () => rows().forEach(applyFilters));
    return element;
  };

  const byHost = select('All hosts', []);
  const byState = select('All states', ['ok', 'changed', 'failed', 'unreachable', 'skipped']);
  const knownHosts = new Set();

  /** Hides a line that the filters exclude. Lines without a host, such as task headings, stay. */
  function applyFilters(row) {
    const { host, state } = row.dataset;
    if (host === undefined) return;
    row.hidden =
      (byHost.value !== '' && byHost.value !== host) ||
      (byState.value !== '' && byState.value !== state);
  }

  function register(row) {
    const { host } = row.dataset;
    if (host !== undefined && !knownHosts.has(host)) {
      knownHosts.add(host);
      byHost.append(new Option(host, host));
    }
    applyFilters(row);
  }

  rows().forEach(register);
  new MutationObserver((changes) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (node.matches?.('.row')) register(node);
    }
  }).observe(output, { childList: true, subtree: true });

  /** Shows the event of a line in a dialog, which Escape closes. */
  async function showEvent(id) {
    const response = await fetch(`${output.dataset.events}${id}/`, {
      headers: { Accept: 'application/json' },
    });
    if (!response.ok) return;
    const { event, task, host_name: host, event_data: data } = await response.json();
    const dialog = document.createElement('dialog');
    const title = document.createElement('h2');
    title.textContent = [task || event, host].filter(Boolean).join(' on ');
    const text = document.createElement('pre');
    text.tabIndex = 0;
    text.textContent = JSON.stringify(data?.res ?? data, null, 2);
    dialog.append(
      title,
      text,
      button('Close', () => dialog.close()),
    );
    dialog.addEventListener('close', () => dialog.remove());
    dialog.setAttribute('aria-label', 'Event');
    document.body.append(dialog);
    dialog.showModal();
  }

  output.addEventListener('click', ({ target }) => {
    const row = target.closest('.row');
    if (!output.dataset.events) return;
    const isPlainClick = String(getSelection()) === '' && !target.closest('a, summary');
    if (row?.dataset.event && isPlainClick) void showEvent(row.dataset.event);
  });

  const bar = document.createElement('div');
  bar.className = 'output-tools';
  bar.setAttribute('role', 'toolbar');
  bar.setAttribute('aria-label', 'Output tools');
  if (output.dataset.live) {
    const follow = (isOn) => {
      output.dataset.follow = isOn ? 'on' : 'off';
      if (isOn) output.scrollTop = output.scrollHeight;
    };
    bar.append(button('Follow', follow, { isSwitch: true, isOn: true }));
  }
  bar.append(
    button('Next failure', nextFailure),
    byHost,
    byState,
    button('Wrap', (isOn) => output.classList.toggle('unwrapped', !isOn), {
      isSwitch: true,
      isOn: true,
    }),
    button('Full screen', () => {
      if (document.fullscreenElement) void document.exitFullscreen();
      else void section.requestFullscreen();
    }),
  );
  output.before(bar);
})();
