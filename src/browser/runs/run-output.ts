import { assetUrl } from '../shared/assets.js';
import { attributes, html, Html } from '../shared/html.js';
import type { OutputPart, RunOutputsRepository } from '../../runs/output/run-outputs.repository.js';
import { htmlLines } from '../../runs/output/stdout.js';
import { type FoundLine, searchView } from './output-search.js';

/** Maximum size of the output on a page; the download is complete. */
const MAX = { events: 500, bytes: 262_144 };
/** Number of lines of context before the requested line. */
const CONTEXT_LINES = 10;

/** The part of an output that a page shows. */
interface ShownOutput {
  parts: readonly OutputPart[];
  /** Requested line, starting at 1; null for the end of the output. */
  from: number | null;
}

export async function loadOutput(
  outputs: RunOutputsRepository,
  runId: number,
  from: number | null,
  maxEvents: number,
): Promise<ShownOutput> {
  const max = { ...MAX, events: Math.min(MAX.events, maxEvents) };
  const parts =
    from === null
      ? await outputs.tail(runId, max)
      : await outputs.from(runId, Math.max(0, from - 1 - CONTEXT_LINES), max);
  return { parts, from };
}

export interface OutputContext {
  run: { url: string; status: string };
  isActive: boolean;
  /** True if the page appends new output without a reload. */
  hasLiveUpdates: boolean;
  /** Search text and matching lines; null without a search. */
  search: { text: string; lines: readonly FoundLine[] } | null;
}

/** Renders the output of a run; a script appends new output while the run is active. */
export function outputView({ parts, from }: ShownOutput, context: OutputContext): Html {
  const { run, isActive, hasLiveUpdates, search } = context;
  const title = html`<h2 id="output-title">Output</h2>`;
  if (!isActive && parts.length === 0) {
    return html`<section class="output" id="output" aria-labelledby="output-title">
      ${title}
      <p>The run ended: ${run.status}. No output is stored.</p>
    </section>`;
  }
  const isLive = hasLiveUpdates && from === null;
  const stream = `${run.url}events/stream/?after=${parts.at(-1)?.counter ?? 0}&no_truncate=1`;
  return html`<section class="output" id="output" aria-labelledby="output-title">
    <link rel="stylesheet" href="${assetUrl('ansi-colors.css')}" />
    <div class="line">
      ${title}
      <p role="status" data-live-status="${run.status}">
        ${isActive ? `The run is ${run.status}.` : `The run ended: ${run.status}.`}
      </p>
      <p id="run-progress" data-progress>${isActive && progressOf(parts)}</p>
      <a class="button small" href="${run.url}stdout/?format=txt_download">Download</a>
      <form class="output-search" method="get" action="${run.url}#output" role="search">
        <input
          type="search"
          name="output"
          aria-label="Find in the output"
          placeholder="Find in the output"
          maxlength="200"
          value="${search?.text ?? ''}"
        />
      </form>
    </div>
    ${search && searchView(run.url, search.text, search.lines)}
    ${partLinks(run.url, { parts, from })}
    <div
      class="stdout"
      tabindex="0"
      role="log"
      aria-live="off"
      aria-label="Output of the run"
      ${attributes({ 'data-live': isLive && stream, 'data-events': run.url.startsWith('/api/v2/jobs/') && '/api/v2/job_events/' })}
    >
      ${taskBlocks(parts)}
    </div>
    ${isActive && from === null && reloadHint(hasLiveUpdates)}
  </section>`;
}

/** Renders a hint to reload the page of an active run that is not updated automatically. */
export const reloadHint = (hasLiveUpdates: boolean): Html =>
  html`<p class="${hasLiveUpdates ? 'hint plain-only' : 'hint'}">
    Reload this page to see new output.
  </p>`;

/** Renders links to the parts of the output that are not shown. */
function partLinks(url: string, { parts, from }: ShownOutput): Html | null {
  const first = (parts[0]?.start_line ?? 0) + 1;
  const earlier = Math.max(1, first - MAX.events);
  const before = first > 1 && html`<a href="${url}?line=${earlier}#output">Earlier lines</a>`;
  const isEnd = from === null || (parts.at(-1)?.edge ?? true);
  const after = !isEnd && html`<a href="${url}#output">To the end</a>`;
  if (!before && !after) return null;
  return html`<p class="hint">Only a part is shown, from line ${first} on. ${before} ${after}</p>`;
}

const TASK_STARTS: ReadonlySet<string> = new Set([
  'playbook_on_task_start',
  'playbook_on_handler_task_start',
]);
/** Events that end a task without starting another task. */
const TASK_ENDS: ReadonlySet<string> = new Set(['playbook_on_play_start', 'playbook_on_stats']);

/** Returns the current task, and the number of hosts on which the task has finished. */
function progressOf(parts: readonly OutputPart[]): string | null {
  const start = parts.findLastIndex(({ event }) => TASK_STARTS.has(event));
  const task = /^[^[]*\[([^\n]+)\]/.exec(parts[start]?.stdout ?? '')?.[1];
  if (task === undefined) return null;
  const { size } = new Set(parts.slice(start).flatMap(({ host }) => host ?? []));
  return `Task: ${task}, ${size === 1 ? '1 host' : `${size} hosts`} done`;
}

/** Renders the lines of each task collapsible below the first line; other lines are always shown. */
function taskBlocks(parts: readonly OutputPart[]): Html[] {
  const groups: { head: OutputPart | null; rest: OutputPart[] }[] = [{ head: null, rest: [] }];
  for (const part of parts) {
    if (TASK_STARTS.has(part.event)) groups.push({ head: part, rest: [] });
    else if (TASK_ENDS.has(part.event)) groups.push({ head: null, rest: [part] });
    else groups.at(-1)?.rest.push(part);
  }
  return groups.map(({ head, rest }) => {
    const lines = rest.flatMap((part) => rows(part, 'a'));
    if (!head) return html`${lines}`;
    // A `summary` element must not contain links.
    return html`<details class="fold" open>
      <summary>${rows(head, 'span')}</summary>
      ${lines}
    </details>`;
  });
}

/**
 * Renders each line with its number, and the first line with its time. Builds the text without a
 * template, because every space in a line is part of the output.
 */
function rows(part: OutputPart, numberTag: 'a' | 'span'): Html[] {
  const { id, host, state, stdout, start_line: start, created } = part;
  const outcome = state && { 'data-event': id, 'data-host': host, 'data-state': state };
  const row = attributes({ class: 'row', ...outcome }).text;
  return htmlLines(stdout).map((line, index) => {
    const number = start + index + 1;
    const numberAttributes = attributes({
      class: 'ln',
      id: `line-${number}`,
      ...(numberTag === 'a'
        ? { href: `#line-${number}`, tabindex: -1, 'aria-label': `Line ${number}` }
        : {}),
      'data-line': number,
      'data-time': index === 0 && new Date(created).toISOString().slice(11, 19),
    }).text;
    return new Html(`<span${row}><${numberTag}${numberAttributes}></${numberTag}>${line}\n</span>`);
  });
}
