import { html, type Html } from '../common/pages/html.js';
import type { DayCount } from '../runs/run-overviews.repository.js';

const WIDTH = 1160;
const HEIGHT = 210;
const LEFT = 36;
const TOP = 12;
const BOTTOM = 24;
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM;

/** Runs that ended by day: a picture, and the same numbers as a table. */
export function dayPlot(days: readonly DayCount[]): Html {
  const successful = days.reduce((sum, day) => sum + day.successful, 0);
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  const top = niceTop(Math.max(...days.map((day) => day.successful + day.failed)));
  const label = `${successful} successful and ${failed} failed jobs in the last ${days.length} days`;
  return html`<figure class="plot">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
      ${[0, top / 2, top].map((value) => gridLine(value, top))}
      ${days.map((day, index) => column(day, index, days.length, top))}
    </svg>
    <figcaption>
      <span
        ><span class="key part-successful" aria-hidden="true"></span>${successful} successful</span
      >
      <span><span class="key part-failed" aria-hidden="true"></span>${failed} failed</span>
    </figcaption>
    <details class="plain">
      <summary>As a table</summary>
      <div class="folded">${table(days)}</div>
    </details>
  </figure>`;
}

/** An even upper end of the scale, so that its middle is a whole number. */
function niceTop(largest: number): number {
  for (let unit = 1; ; unit *= 10) {
    const step = [2, 4, 6, 8, 10, 12, 16, 20].find((one) => one * unit >= largest);
    if (step !== undefined) return step * unit;
  }
}

const yOf = (value: number, top: number): number => TOP + PLOT_HEIGHT * (1 - value / top);

const gridLine = (value: number, top: number): Html => {
  const y = yOf(value, top).toFixed(1);
  return html`<line class="grid-line" x1="${LEFT}" x2="${WIDTH}" y1="${y}" y2="${y}" />
    <text class="axis" x="${LEFT - 8}" y="${y}" dy="0.32em" text-anchor="end">${value}</text>`;
};

function column(day: DayCount, index: number, count: number, top: number): Html {
  const step = (WIDTH - LEFT) / count;
  const x = (LEFT + index * step + step * 0.2).toFixed(1);
  const width = (step * 0.6).toFixed(1);
  const part = (name: string, from: number, size: number): Html | null =>
    size === 0
      ? null
      : html`<rect
          class="part-${name}"
          x="${x}"
          y="${yOf(from + size, top).toFixed(1)}"
          width="${width}"
          height="${((PLOT_HEIGHT * size) / top).toFixed(1)}"
        />`;
  const middle = (LEFT + (index + 0.5) * step).toFixed(1);
  return html`<g>
    <title>${day.day}: ${day.successful} successful, ${day.failed} failed</title>
    ${part('successful', 0, day.successful)} ${part('failed', day.successful, day.failed)}
    <text class="axis" x="${middle}" y="${HEIGHT - 8}" text-anchor="middle">
      ${day.day.slice(5)}
    </text>
  </g>`;
}

const table = (days: readonly DayCount[]): Html =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="Jobs by day">
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col">Successful</th>
          <th scope="col">Failed</th>
        </tr>
      </thead>
      <tbody>
        ${days.map(
          ({ day, successful, failed }) =>
            html`<tr>
              <th scope="row">${day}</th>
              <td class="number">${successful}</td>
              <td class="number">${failed}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
