import { html, Html } from '../../common/pages/html.js';
import { JobEventsRepository } from '../events/job-events.repository.js';
import { htmlText } from '../output/stdout.js';

/** How much of the end of an output a page shows; the rest is downloaded. */
const MOST = { events: 500, bytes: 262_144 };

/** The end of the output of a run. */
export interface OutputTail {
  chunks: readonly string[];
  /** Counter of the last event that is shown: the live stream goes on from there. */
  last: number;
  isWhole: boolean;
}

export async function loadTail(events: JobEventsRepository, runId: number): Promise<OutputTail> {
  const rows = await events.tail(runId, MOST);
  return {
    chunks: rows.map(({ stdout }) => stdout),
    last: rows.at(-1)?.counter ?? 0,
    isWhole: rows[0]?.first ?? true,
  };
}

/** The output as a page shows it; the script of the page goes on with it while the run is active. */
export function outputView(
  { url, status }: { url: string; status: string },
  { chunks, last, isWhole }: OutputTail,
  isActive: boolean,
): Html {
  const stream = `${url}events/stream/?after=${last}&no_truncate=1`;
  const lines = chunks.map((chunk) => new Html(`${htmlText(chunk)}\n`));
  return html`<section class="output" aria-labelledby="output-title">
    <div class="line">
      <h2 id="output-title">Output</h2>
      <p role="status" data-live-status>
        ${isActive ? `The run is ${status}.` : `The run ended: ${status}.`}
      </p>
      <a class="button small" href="${url}stdout/?format=txt_download">Download</a>
    </div>
    ${!isWhole && html`<p class="hint">Only the end is shown; download the output to see all.</p>`}
    <pre
      class="stdout"
      tabindex="0"
      role="log"
      aria-live="off"
      aria-label="Output of the run"
      ${isActive ? html`data-live="${stream}"` : null}
    >
${lines}</pre>
    ${isActive && html`<p class="hint plain-only">Load this page again to see what came since.</p>`}
  </section>`;
}
