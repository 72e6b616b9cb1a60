/* Goes on with the output or the graph of a run that is active. Without it the page is as it was loaded. */
(() => {
  'use strict';

  const output = document.querySelector('[data-live]');
  const graph = document.querySelector('[data-live-graph]');
  const state = document.querySelector('[data-live-status]');
  if (!(output || graph) || !state) return;

  /** A page that stays open for hours must not grow for ever. */
  const MAX_CHUNKS = 5000;
  const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
  const COLOUR = /\u001B\[([0-9;]*)m/g;
  const ESCAPE =
    /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])|\r/g;

  function applied(style, codes) {
    const next = { ...style };
    for (const code of codes.split(';').map(Number)) {
      if (code === 0) Object.assign(next, { colour: null, bold: false });
      else if (code === 1) next.bold = true;
      else if (code === 22) next.bold = false;
      else if (code === 39) next.colour = null;
      else if (code >= 30 && code <= 37) next.colour = NAMES[code - 30];
      else if (code >= 90 && code <= 97) next.colour = `bright-${NAMES[code - 90]}`;
    }
    return next;
  }

  /** Colours become classes, everything else text: output is never read as HTML. */
  function chunkOf(text) {
    const chunk = document.createElement('span');
    let style = { colour: null, bold: false };
    let position = 0;
    const add = (part) => {
      const plain = part.replace(ESCAPE, '');
      if (plain === '') return;
      const span = document.createElement('span');
      span.textContent = plain;
      if (style.colour) span.classList.add(`ansi-${style.colour}`);
      if (style.bold) span.classList.add('ansi-bold');
      chunk.append(span);
    };
    for (const match of text.matchAll(COLOUR)) {
      add(text.slice(position, match.index));
      style = applied(style, match[1]);
      position = match.index + match[0].length;
    }
    add(`${text.slice(position)}\n`);
    return chunk;
  }

  function append(text) {
    const follows = output.scrollHeight - output.scrollTop - output.clientHeight < 40;
    output.append(chunkOf(text));
    while (output.childNodes.length > MAX_CHUNKS) output.firstChild.remove();
    if (follows) output.scrollTop = output.scrollHeight;
  }

  /** Takes over what the server draws of the run as it is now. */
  async function refresh() {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const old of document.querySelectorAll('[data-refresh]')) {
      const now = fresh.getElementById(old.id);
      if (now) old.replaceWith(document.adoptNode(now));
    }
  }

  let waiting;
  /** Several changes at a time are one look at the page. */
  function refreshSoon() {
    clearTimeout(waiting);
    waiting = setTimeout(() => void refresh().catch(() => undefined), 150);
  }

  const source = new EventSource(output ? output.dataset.live : graph.dataset.liveGraph);
  let status = '';
  source.addEventListener('job_event', ({ data }) => {
    const { stdout } = JSON.parse(data);
    if (stdout !== '') append(stdout);
  });
  source.addEventListener('node', refreshSoon);
  source.addEventListener('status', ({ data }) => {
    const news = JSON.parse(data).status;
    if (news === status) return;
    status = news;
    state.textContent = `The run is ${status}.`;
  });
  source.addEventListener('end', () => {
    source.close();
    state.textContent = `The run ended: ${status}.`;
    refreshSoon();
  });
  source.addEventListener('error', () => {
    // A lost connection is made again by the browser; a refused one is not.
    if (source.readyState !== EventSource.CLOSED) return;
    state.textContent = 'The live output is not available: load the page again.';
  });
  window.addEventListener('pagehide', () => source.close());
  if (output) output.scrollTop = output.scrollHeight;
})();
