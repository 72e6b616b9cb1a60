/*
 * Keeps the dashboard up to date, and goes on with the output or the graph of a run that is active.
 * Without it the page is as it was loaded.
 */
(() => {
  'use strict';

  /** Takes over what the server draws of the page as it is now. */
  async function refresh() {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
    globalThis.showLocalTimes(fresh);
    for (const old of document.querySelectorAll('[data-refresh]')) {
      const now = fresh.getElementById(old.id);
      if (!now) continue;
      const folds = now.querySelectorAll('details');
      old.querySelectorAll('details').forEach(({ open }, index) => {
        if (open && folds[index]) folds[index].open = true;
      });
      // Unchanged elements keep focus and selection.
      if (!old.isEqualNode(now)) old.replaceWith(document.adoptNode(now));
    }
  }

  const { refreshSeconds } = document.currentScript.dataset;
  if (refreshSeconds) {
    /** Stops without user activity, so that the session can expire. */
    const ATTENDED_MINUTES = 10;
    let seen = Date.now();
    for (const sign of ['keydown', 'pointermove', 'scroll', 'visibilitychange']) {
      document.addEventListener(sign, () => (seen = Date.now()), { passive: true });
    }
    const look = () => {
      if (document.hidden || Date.now() - seen > ATTENDED_MINUTES * 60_000) return;
      void refresh().catch(() => undefined);
    };
    setInterval(look, Number(refreshSeconds) * 1000);
    document.addEventListener('visibilitychange', look);
  }

  const output = document.querySelector('[data-live]');
  const graph = document.querySelector('[data-live-graph]');
  const state = document.querySelector('[data-live-status]');
  if (!(output || graph) || !state) return;

  /** A page that stays open for hours must not grow for ever. */
  const MAX_LINES = 5000;
  const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
  const COLOUR = /\u001B\[([0-9;]*)m/g;
  const ESCAPE =
    /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])|\r/g;

  /** A color of 256, or the nearest of them to a red, green and blue. */
  function extended(codes) {
    const kind = codes.shift();
    if (kind === 2) {
      const [red = 0, green = 0, blue = 0] = codes.splice(0, 3).map(stepOf);
      return String(16 + 36 * red + 6 * green + blue);
    }
    const index = kind === 5 ? codes.shift() : undefined;
    if (!(index >= 0 && index < 256)) return null;
    return index < 16 ? (index < 8 ? '' : 'bright-') + NAMES[index % 8] : String(index);
  }

  /** The step of the cube of 216 colors that is nearest to a level from 0 to 255. */
  const stepOf = (level) =>
    level < 48 ? 0 : Math.min(5, Math.max(1, Math.floor((level - 35) / 40)));

  function applied(style, codes) {
    const next = { ...style };
    const given = codes.split(';').map(Number);
    for (let code = given.shift(); code !== undefined; code = given.shift()) {
      if (code === 38 || code === 48) {
        const colour = extended(given);
        if (code === 38) next.colour = colour;
      } else if (code === 0) Object.assign(next, { colour: null, bold: false });
      else if (code === 1) next.bold = true;
      else if (code === 22) next.bold = false;
      else if (code === 39) next.colour = null;
      else if (code >= 30 && code <= 37) next.colour = NAMES[code - 30];
      else if (code >= 90 && code <= 97) next.colour = `bright-${NAMES[code - 90]}`;
    }
    return next;
  }

  /** Colours become classes, everything else text: output is never read as HTML. */
  function linesOf(text) {
    const lines = [document.createElement('span')];
    let style = { colour: null, bold: false };
    let position = 0;
    const add = (part) => {
      const plain = part.replace(ESCAPE, '');
      plain.split('\n').forEach((line, index) => {
        if (index > 0) lines.push(document.createElement('span'));
        if (line === '') return;
        const span = document.createElement('span');
        span.textContent = line;
        if (style.colour) span.classList.add(`ansi-${style.colour}`);
        if (style.bold) span.classList.add('ansi-bold');
        lines.at(-1).append(span);
      });
    };
    for (const match of text.matchAll(COLOUR)) {
      add(text.slice(position, match.index));
      style = applied(style, match[1]);
      position = match.index + match[0].length;
    }
    add(text.slice(position));
    return lines;
  }

  /** The outcome of a task on a host; none for other events. */
  function outcomeOf({ event, host_name: host, changed, failed }) {
    if (!host || !/^runner_on_(?!start)/.test(event)) return null;
    if (event === 'runner_on_unreachable') return 'unreachable';
    if (event === 'runner_on_skipped') return 'skipped';
    return failed ? 'failed' : changed ? 'changed' : 'ok';
  }

  /** Lines with their numbers, as the server draws them. */
  function rowsOf(event, mark) {
    const { stdout, start_line: start, created } = event;
    return linesOf(stdout).map((line, index) => {
      const number = start + index + 1;
      const place = document.createElement(mark);
      place.className = 'ln';
      place.id = `line-${number}`;
      if (mark === 'a') {
        place.href = `#line-${number}`;
        place.tabIndex = -1;
        place.setAttribute('aria-label', `Line ${number}`);
      }
      place.dataset.line = number;
      if (index === 0) place.dataset.time = new Date(created).toISOString().slice(11, 19);
      line.className = 'row';
      const outcome = outcomeOf(event);
      if (outcome) {
        Object.assign(line.dataset, { event: event.id, host: event.host_name, state: outcome });
      }
      line.prepend(place);
      line.append('\n');
      return line;
    });
  }

  const TASK_STARTS = ['playbook_on_task_start', 'playbook_on_handler_task_start'];
  const TASK_ENDS = ['playbook_on_play_start', 'playbook_on_stats'];
  let task = output?.lastElementChild?.matches('details') ? output.lastElementChild : null;

  function append(event) {
    const startsTask = TASK_STARTS.includes(event.event);
    // A summary must not contain links.
    const rows = rowsOf(event, startsTask ? 'span' : 'a');
    if (startsTask) {
      task = document.createElement('details');
      task.className = 'fold';
      task.open = true;
      const head = document.createElement('summary');
      head.append(...rows);
      task.append(head);
      output.append(task);
    } else {
      if (TASK_ENDS.includes(event.event)) task = null;
      (task ?? output).append(...rows);
    }
  }

  const progress = document.querySelector('[data-progress]');
  const done = new Set();

  /** Shows the current task, and on how many hosts it has ended. */
  function showProgress(event) {
    if (TASK_STARTS.includes(event.event)) done.clear();
    else if (outcomeOf(event)) done.add(event.host_name);
    else return;
    const hosts = done.size === 1 ? '1 host' : `${done.size} hosts`;
    if (progress && event.task) progress.textContent = `Task: ${event.task}, ${hosts} done`;
  }

  function showElapsed() {
    const clock = document.querySelector('[data-since]');
    if (!clock) return;
    const seconds = Math.max(0, Math.round((Date.now() - new Date(clock.dataset.since)) / 1000));
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
    const parts = hours > 0 ? [hours, 'h', minutes, 'min'] : [minutes, 'min', seconds % 60, 's'];
    clock.textContent = seconds < 60 ? `${seconds} s` : parts.join(' ');
  }
  setInterval(showElapsed, 1000);

  /** Events that wait to be drawn: one layout of the page serves many of them. */
  const arrived = [];
  let isDrawing = false;
  /** Events drawn at a time, so that the page answers in between. */
  const MOST_AT_A_TIME = 100;

  function drawSoon(event) {
    arrived.push(event);
    if (!isDrawing) setTimeout(draw, 16);
    isDrawing = true;
  }

  function draw() {
    const isNearEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 40;
    const follows = isNearEnd && output.dataset.follow !== 'off';
    skipExtra();
    arrived.splice(0, MOST_AT_A_TIME).forEach(append);
    const lines = output.getElementsByClassName('row');
    for (let extra = lines.length - MAX_LINES; extra > 0; extra--) removeFirst(lines[0]);
    if (follows) output.scrollTop = output.scrollHeight;
    isDrawing = arrived.length > 0;
    if (isDrawing) setTimeout(draw, 16);
  }

  /** Leaves out events whose lines would be removed again, but not the start of the task they belong to. */
  function skipExtra() {
    const skipped = arrived.splice(0, arrived.length - MAX_LINES);
    const isEdge = ({ event }) => TASK_STARTS.includes(event) || TASK_ENDS.includes(event);
    const edge = skipped.findLast(isEdge);
    if (edge) arrived.unshift(edge);
  }

  /** A task goes as soon as no line of it is left. */
  function removeFirst(line) {
    const fold = line.closest('details');
    line.remove();
    if (fold && !fold.querySelector('.row')) fold.remove();
  }

  let waiting;
  /** Several changes at a time are one look at the page. */
  function refreshSoon() {
    clearTimeout(waiting);
    waiting = setTimeout(() => void refresh().catch(() => undefined), 150);
  }

  const source = new EventSource(output ? output.dataset.live : graph.dataset.liveGraph);
  let status = state.dataset.liveStatus;
  source.addEventListener('job_event', ({ data }) => {
    const event = JSON.parse(data);
    showProgress(event);
    if (event.stdout !== '') drawSoon(event);
  });
  source.addEventListener('node', refreshSoon);
  source.addEventListener('status', ({ data }) => {
    const news = JSON.parse(data).status;
    if (news === status) return;
    status = news;
    state.textContent = `The run is ${status}.`;
    refreshSoon();
  });
  source.addEventListener('end', () => {
    source.close();
    if (progress) progress.textContent = '';
    document.querySelector('.message.good[role=status]')?.remove();
    state.textContent = `The run ended: ${status}.`;
    refreshSoon();
  });
  source.addEventListener('error', () => {
    // A lost connection is made again by the browser; a refused one is not.
    if (source.readyState !== EventSource.CLOSED) return;
    state.textContent = 'The live output is not available: load the page again.';
  });
  window.addEventListener('pagehide', () => source.close());
  // A link to a line leads there and not to the end.
  if (output && !location.hash.startsWith('#line-')) output.scrollTop = output.scrollHeight;
})();
