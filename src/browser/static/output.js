/* Tools of the output of a run: follow, next failure, filters, wrap, full screen, event details. */
(() => {
  'use strict';

  const section = document.getElementById('output');
  const output = section?.querySelector('.stdout');
  if (!output) return;
  const rows = () => [...output.getElementsByClassName('row')];

  const button = (label, act, { isSwitch = false, isOn = false } = {}) => {
    const made = document.createElement('button');
    Object.assign(made, { type: 'button', className: 'small', textContent: label });
    if (isSwitch) made.setAttribute('aria-pressed', String(isOn));
    made.addEventListener('click', () => {
      const next = made.getAttribute('aria-pressed') !== 'true';
      if (isSwitch) made.setAttribute('aria-pressed', String(next));
      act(next);
    });
    return made;
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
    const made = document.createElement('select');
    made.setAttribute('aria-label', label);
    made.append(new Option(label, ''), ...values.map((value) => new Option(value, value)));
    made.addEventListener('change', () => rows().forEach(filter));
    return made;
  };

  const byHost = select('All hosts', []);
  const byState = select('All states', ['ok', 'changed', 'failed', 'unreachable', 'skipped']);
  const known = new Set();

  /** Lines of no host, such as headings of tasks, are always shown. */
  function filter(row) {
    const { host, state } = row.dataset;
    if (host === undefined) return;
    row.hidden =
      (byHost.value !== '' && byHost.value !== host) ||
      (byState.value !== '' && byState.value !== state);
  }

  function arrived(row) {
    const { host } = row.dataset;
    if (host !== undefined && !known.has(host)) {
      known.add(host);
      byHost.append(new Option(host, host));
    }
    filter(row);
  }

  rows().forEach(arrived);
  new MutationObserver((changes) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (node.matches?.('.row')) arrived(node);
    }
  }).observe(output, { childList: true, subtree: true });

  /** Shows the event of a line in a dialog, which Escape closes. */
  async function showEvent(id) {
    const answer = await fetch(`${output.dataset.events}${id}/`, {
      headers: { Accept: 'application/json' },
    });
    if (!answer.ok) return;
    const { event, task, host_name: host, event_data: data } = await answer.json();
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
    const isChosen = String(getSelection()) === '' && !target.closest('a, summary');
    if (row?.dataset.event && isChosen) void showEvent(row.dataset.event);
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
