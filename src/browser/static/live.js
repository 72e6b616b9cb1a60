/*
 * Refreshes the dashboard, and streams the output or the graph of an active run. Without this script a
 * page does not change after it has loaded.
 */
(() => {
  'use strict';

  /** Loads the page again, and replaces the elements that changed. */
  async function refresh() {
    const response = await fetch(location.href, { headers: { Accept: 'text/html' } });
    if (!response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    globalThis.showLocalTimes(fresh);
    for (const current of document.querySelectorAll('[data-refresh]')) {
      const next = fresh.getElementById(current.id);
      if (!next) continue;
      const folds = next.querySelectorAll('details');
      current.querySelectorAll('details').forEach(({ open }, index) => {
        if (open && folds[index]) folds[index].open = true;
      });
      // Unchanged elements keep focus and selection.
      if (!current.isEqualNode(next)) current.replaceWith(document.adoptNode(next));
    }
  }

  const { refreshSeconds } = document.currentScript.dataset;
  if (refreshSeconds) {
    /** Time without user activity after which refreshes stop, so that the session can expire. */
    const IDLE_MINUTES = 10;
    let lastActivity = Date.now();
    for (const type of ['keydown', 'pointermove', 'scroll', 'visibilitychange']) {
      document.addEventListener(type, () => (lastActivity = Date.now()), { passive: true });
    }
    const refreshUnlessIdle = () => {
      if (document.hidden || Date.now() - lastActivity > IDLE_MINUTES * 60_000) return;
      void refresh().catch(() => undefined);
    };
    setInterval(refreshUnlessIdle, Number(refreshSeconds) * 1000);
    document.addEventListener('visibilitychange', refreshUnlessIdle);
  }

  const output = document.querySelector('[data-live]');
  const graph = document.querySelector('[data-live-graph]');
  const statusLine = document.querySelector('[data-live-status]');
  if (!(output || graph) || !statusLine) return;

  /** Maximum number of lines, because pages stay open for hours. */
  const MAX_LINES = 5000;
  const COLOR_NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
  const COLOR = /\u001B\[([0-9;]*)m/g;
  const ESCAPE =
    /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])|\r/g;

  /**
   * Returns the name of an indexed color below 16, the number of any other indexed color, or the number of
   * the color nearest to RGB levels; null for an invalid index.
   */
  function extendedColor(codes) {
    const kind = codes.shift();
    if (kind === 2) {
      const [red = 0, green = 0, blue = 0] = codes.splice(0, 3).map(stepOf);
      return String(16 + 36 * red + 6 * green + blue);
    }
    const index = kind === 5 ? codes.shift() : undefined;
    if (!(index >= 0 && index < 256)) return null;
    return index < 16 ? (index < 8 ? '' : 'bright-') + COLOR_NAMES[index % 8] : String(index);
  }

  /** Returns the step of the cube of 216 colors that is nearest to a level from 0 to 255. */
  const stepOf = (level) =>
    level < 48 ? 0 : Math.min(5, Math.max(1, Math.floor((level - 35) / 40)));

  function styleAfter(style, codes) {
    const next = { ...style };
    const remaining = codes.split(';').map(Number);
    for (let code = remaining.shift(); code !== undefined; code = remaining.shift()) {
      if (code === 38 || code === 48) {
        const color = extendedColor(remaining);
        if (code === 38) next.color = color;
      } else if (code === 0) Object.assign(next, { color: null, bold: false });
      else if (code === 1) next.bold = true;
      else if (code === 22) next.bold = false;
      else if (code === 39) next.color = null;
      else if (code >= 30 && code <= 37) next.color = COLOR_NAMES[code - 30];
      else if (code >= 90 && code <= 97) next.color = `bright-${COLOR_NAMES[code - 90]}`;
    }
    return next;
  }

  /**
   * Converts output to lines. Colors and bold become classes, other escape sequences are removed, and all
   * else becomes text, never HTML.
   */
  function linesOf(text) {
    const lines = [document.createElement('span')];
    let style = { color: null, bold: false };
    let position = 0;
    const add = (part) => {
      const plain = part.replace(ESCAPE, '');
      plain.split('\n').forEach((line, index) => {
        if (index > 0) lines.push(document.createElement('span'));
        if (line === '') return;
        const span = document.createElement('span');
        span.textContent = line;
        if (style.color) span.classList.add(`ansi-${style.color}`);
        if (style.bold) span.classList.add('ansi-bold');
        lines.at(-1).append(span);
      });
    };
    for (const match of text.matchAll(COLOR)) {
      add(text.slice(position, match.index));
      style = styleAfter(style, match[1]);
      position = match.index + match[0].length;
    }
    add(text.slice(position));
    return lines;
  }

  /** Returns the outcome of a task on a host, or null for other events. */
  function outcomeOf({ event, host_name: host, changed, failed }) {
    if (!host || !/^runner_on_(?!start)/.test(event)) return null;
    if (event === 'runner_on_unreachable') return 'unreachable';
    if (event === 'runner_on_skipped') return 'skipped';
    return failed ? 'failed' : changed ? 'changed' : 'ok';
  }

  /** Creates the lines of an event with line numbers, in the markup of the server. */
  function rowsOf(event, numberTag) {
    const { stdout, start_line: start, created } = event;
    return linesOf(stdout).map((line, index) => {
      const number = start + index + 1;
      const lineNumber = document.createElement(numberTag);
      lineNumber.className = 'ln';
      lineNumber.id = `line-${number}`;
      if (numberTag === 'a') {
        lineNumber.href = `#line-${number}`;
        lineNumber.tabIndex = -1;
        lineNumber.setAttribute('aria-label', `Line ${number}`);
      }
      lineNumber.dataset.line = number;
      if (index === 0) lineNumber.dataset.time = new Date(created).toISOString().slice(11, 19);
      line.className = 'row';
      const outcome = outcomeOf(event);
      if (outcome) {
        Object.assign(line.dataset, { event: event.id, host: event.host_name, state: outcome });
      }
      line.prepend(lineNumber);
      line.append('\n');
      return line;
    });
  }

  const TASK_STARTS = ['playbook_on_task_start', 'playbook_on_handler_task_start'];
  const TASK_ENDS = ['playbook_on_play_start', 'playbook_on_stats'];
  let task = output?.lastElementChild?.matches('details') ? output.lastElementChild : null;

  function append(event) {
    const startsTask = TASK_STARTS.includes(event.event);
    // A `summary` element must not contain links.
    const rows = rowsOf(event, startsTask ? 'span' : 'a');
    if (startsTask) {
      task = document.createElement('details');
      task.className = 'fold';
      task.open = true;
      const summary = document.createElement('summary');
      summary.append(...rows);
      task.append(summary);
      output.append(task);
    } else {
      if (TASK_ENDS.includes(event.event)) task = null;
      (task ?? output).append(...rows);
    }
  }

  const progress = document.querySelector('[data-progress]');
  const finishedHosts = new Set();

  /** Shows the current task and the number of hosts that finished it. */
  function showProgress(event) {
    if (TASK_STARTS.includes(event.event)) finishedHosts.clear();
    else if (outcomeOf(event)) finishedHosts.add(event.host_name);
    else return;
    const hosts = finishedHosts.size === 1 ? '1 host' : `${finishedHosts.size} hosts`;
    if (progress && event.task) progress.textContent = `Task: ${event.task}, ${hosts} done`;
  }

  function showElapsed() {
    const elapsed = document.querySelector('[data-since]');
    if (!elapsed) return;
    const seconds = Math.max(0, Math.round((Date.now() - new Date(elapsed.dataset.since)) / 1000));
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
    const parts = hours > 0 ? [hours, 'h', minutes, 'min'] : [minutes, 'min', seconds % 60, 's'];
    elapsed.textContent = seconds < 60 ? `${seconds} s` : parts.join(' ');
  }
  setInterval(showElapsed, 1000);

  /** Events to draw, in batches that share one layout of the page. */
  const queue = [];
  let isDrawing = false;
  /** Events per batch, so that the page stays responsive. */
  const BATCH_SIZE = 100;

  function enqueue(event) {
    queue.push(event);
    if (!isDrawing) setTimeout(draw, 16);
    isDrawing = true;
  }

  function draw() {
    const isNearEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 40;
    const follows = isNearEnd && output.dataset.follow !== 'off';
    dropExcess();
    queue.splice(0, BATCH_SIZE).forEach(append);
    const lines = output.getElementsByClassName('row');
    for (let excess = lines.length - MAX_LINES; excess > 0; excess--) removeLine(lines[0]);
    if (follows) output.scrollTop = output.scrollHeight;
    isDrawing = queue.length > 0;
    if (isDrawing) setTimeout(draw, 16);
  }

  /** Drops events whose lines would be removed again, except the last start or end of a task. */
  function dropExcess() {
    const dropped = queue.splice(0, queue.length - MAX_LINES);
    const isEdge = ({ event }) => TASK_STARTS.includes(event) || TASK_ENDS.includes(event);
    const edge = dropped.findLast(isEdge);
    if (edge) queue.unshift(edge);
  }

  /** Removes a line, and its task if no other line of the task is left. */
  function removeLine(line) {
    const fold = line.closest('details');
    line.remove();
    if (fold && !fold.querySelector('.row')) fold.remove();
  }

  let refreshTimer;
  /** Combines changes in quick succession into one refresh. */
  function refreshSoon() {
    clearTimeout(refreshTimer);
    refreshTimer = setTimeout(() => void refresh().catch(() => undefined), 150);
  }

  const source = new EventSource(output ? output.dataset.live : graph.dataset.liveGraph);
  let status = statusLine.dataset.liveStatus;
  source.addEventListener('job_event', ({ data }) => {
    const event = JSON.parse(data);
    showProgress(event);
    if (event.stdout !== '') enqueue(event);
  });
  source.addEventListener('node', refreshSoon);
  source.addEventListener('status', ({ data }) => {
    const next = JSON.parse(data).status;
    if (next === status) return;
    status = next;
    statusLine.textContent = `The run is ${status}.`;
    refreshSoon();
  });
  source.addEventListener('end', () => {
    source.close();
    if (progress) progress.textContent = '';
    document.querySelector('.message.good[role=status]')?.remove();
    statusLine.textContent = `The run ended: ${status}.`;
    refreshSoon();
  });
  source.addEventListener('error', () => {
    // The browser restores a lost connection, but does not retry a rejected one.
    if (source.readyState !== EventSource.CLOSED) return;
    statusLine.textContent = 'Live updates are not available. Reload the page.';
  });
  window.addEventListener('pagehide', () => source.close());
  // Scrolls to the end, unless the URL is a link to a line.
  if (output && !location.hash.startsWith('#line-')) output.scrollTop = output.scrollHeight;
})();
