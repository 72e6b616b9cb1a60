import { html, type Html } from './html.js';
import { scrollTable } from './layout.js';

const TOP = 12;
const BOTTOM = 24;

/** Dimensions of a drawing of the chart, in units of the drawing; letters are 11 units high. */
interface Frame {
  name: 'wide-plot' | 'narrow-plot';
  width: number;
  height: number;
  /** Width of the labels of the vertical axis. */
  left: number;
}

/**
 * Wide and narrow drawings. Letters shrink with the drawing, so small screens show the narrow drawing.
 */
const FRAMES: readonly Frame[] = [
  { name: 'wide-plot', width: 1160, height: 210, left: 76 },
  { name: 'narrow-plot', width: 330, height: 170, left: 62 },
];

/** One part of each column. */
export interface Series {
  /** Suffix of the CSS class with the color: `part-<key>`. */
  key: string;
  /** Label such as "successful". */
  label: string;
  values: readonly number[];
}

/** A chart with stacked columns, such as the results of the runs of each day. */
interface ColumnChart {
  /** Text alternative of the chart. */
  summary: string;
  /** Title of the table with the numbers, such as "Jobs by day". */
  title: string;
  /** Unit of the columns, such as "Day". */
  unit: string;
  /** Names of the columns; `short` is the label below the column. */
  columns: readonly { name: string; short: string }[];
  series: readonly Series[];
  /** Returns the legend text of a series; by default its label. */
  legend?: (series: Series) => string;
  /** Formats a value; by default as a plain number. */
  format?: (value: number) => string;
}

/** Renders the chart, and its numbers as a table. */
export function columnChart(chart: ColumnChart): Html {
  const { columns, series, legend = ({ label }) => label } = chart;
  const totals = columns.map((_, index) =>
    series.reduce((total, { values }) => total + (values[index] ?? 0), 0),
  );
  const top = scaleMaximum(Math.max(0, ...totals));
  return html`<figure class="plot">
    ${FRAMES.map(
      (frame) =>
        html`<svg
          class="${frame.name}"
          viewBox="0 0 ${frame.width} ${frame.height}"
          role="img"
          aria-label="${chart.summary}"
        >
          ${[0, top / 2, top].map((value) => gridLine(value, top, chart, frame))}
          ${columns.map((_, index) => column(index, top, chart, frame))}
        </svg>`,
    )}
    <figcaption>
      ${series.map(
        (part) =>
          html`<span
            ><span class="key part-${part.key}" aria-hidden="true"></span>${legend(part)}</span
          >`,
      )}
    </figcaption>
    <details class="plain">
      <summary>As a table</summary>
      <div class="folded">${valueTable(chart)}</div>
    </details>
  </figure>`;
}

/** Returns an even maximum for the scale, so that the middle is a whole number. */
function scaleMaximum(largest: number): number {
  for (let unit = 1; ; unit *= 10) {
    const step = [2, 4, 6, 8, 10, 12, 16, 20].find((factor) => factor * unit >= largest);
    if (step !== undefined) return step * unit;
  }
}

const plotHeight = ({ height }: Frame): number => height - TOP - BOTTOM;

const yOf = (value: number, top: number, frame: Frame): number =>
  TOP + plotHeight(frame) * (1 - value / top);

const textFor = (value: number, { format = String }: ColumnChart): string => format(value);

const gridLine = (value: number, top: number, chart: ColumnChart, frame: Frame): Html => {
  const y = yOf(value, top, frame).toFixed(1);
  return html`<line class="grid-line" x1="${frame.left}" x2="${frame.width}" y1="${y}" y2="${y}" />
    <text class="axis" x="${frame.left - 8}" y="${y}" dy="0.32em" text-anchor="end">
      ${textFor(value, chart)}
    </text>`;
};

/** Minimum distance between the labels below the columns. */
const MIN_SPACING = 38;

function column(index: number, top: number, chart: ColumnChart, frame: Frame): Html {
  const { columns, series } = chart;
  const { left, width: end, height } = frame;
  const step = (end - left) / columns.length;
  const x = (left + index * step + step * 0.2).toFixed(1);
  const width = (step * 0.6).toFixed(1);
  let stacked = 0;
  const parts = series.map(({ key, values }) => {
    const size = values[index] ?? 0;
    stacked += size;
    return (
      size > 0 &&
      html`<rect
        class="part-${key}"
        x="${x}"
        y="${yOf(stacked, top, frame).toFixed(1)}"
        width="${width}"
        height="${((plotHeight(frame) * size) / top).toFixed(1)}"
      />`
    );
  });
  const middle = (left + (index + 0.5) * step).toFixed(1);
  const texts = series.map(({ label, values }) => `${textFor(values[index] ?? 0, chart)} ${label}`);
  const isNamed = index % Math.ceil(MIN_SPACING / step) === 0;
  return html`<g>
    <title>${columns[index]?.name}: ${texts.join(', ')}</title>
    ${parts}
    ${
      isNamed &&
      html`<text class="axis" x="${middle}" y="${height - 8}" text-anchor="middle">
        ${columns[index]?.short}
      </text>`
    }
  </g>`;
}

const valueTable = (chart: ColumnChart): Html =>
  scrollTable(
    chart.title,
    [chart.unit, ...chart.series.map(({ label }) => capital(label))],
    chart.columns.map(
      ({ name }, index) =>
        html`<tr>
          <th scope="row">${name}</th>
          ${chart.series.map(
            ({ values }) => html`<td class="number">${textFor(values[index] ?? 0, chart)}</td>`,
          )}
        </tr>`,
    ),
    '',
  );

const capital = (text: string): string => text.replace(/^./, (letter) => letter.toUpperCase());
