import { html, type Html } from '../shared/html.js';
import { shorten } from '../shared/value-views.js';
import type { RunOutputsRepository } from '../../runs/output/run-outputs.repository.js';
import { plainText } from '../../runs/output/stdout.js';

/** Maximum number of matching events that are read, and of shown lines. */
const MAX = { events: 200, lines: 100 };
const MAX_LINE = 300;

export interface FoundLine {
  /** Line number, starting at 1. */
  line: number;
  text: string;
}

/** Returns the lines of an output that contain a text, ignoring case. */
export async function findLines(
  outputs: RunOutputsRepository,
  runId: number,
  text: string,
): Promise<FoundLine[]> {
  const wanted = text.toLowerCase();
  const found = await outputs.search(runId, text, MAX.events);
  return found
    .flatMap(({ stdout, start_line: start }) =>
      plainText(stdout)
        .split('\n')
        .map((line, index) => ({ line: start + index + 1, text: line })),
    )
    .filter((line) => line.text.toLowerCase().includes(wanted))
    .slice(0, MAX.lines);
}

/** Renders the matching lines, with a link to each line of the output. */
export function searchView(url: string, text: string, lines: readonly FoundLine[]): Html {
  if (lines.length === 0) {
    return html`<p class="hint" role="status">“${text}” was not found in the output.</p>`;
  }
  const count = lines.length === 1 ? 'One line' : `${lines.length} lines`;
  return html`<div class="card found">
    <p role="status">
      ${lines.length === MAX.lines ? `The first ${MAX.lines} lines` : count} with “${text}”
    </p>
    <ol>
      ${lines.map(
        (found) =>
          html`<li>
            <a href="${url}?line=${found.line}#line-${found.line}">${found.line}</a>
            <code>${shorten(found.text, MAX_LINE)}</code>
          </li>`,
      )}
    </ol>
  </div>`;
}
