import type { DayOutcomes } from '../../runs/run-statistics.repository.js';
import { columnChart, type Series } from './column-chart.js';
import type { Html } from './html.js';

const OUTCOMES = ['successful', 'failed', 'error', 'canceled'] as const;

/** Renders a chart of the finished jobs by day and result. */
export function outcomeChart(outcomes: readonly DayOutcomes[]): Html {
  const series = OUTCOMES.map((key) => ({
    key,
    label: key,
    values: outcomes.map((day) => day[key]),
  }));
  const legend = ({ label, values }: Series): string =>
    `${values.reduce((sum, value) => sum + value, 0)} ${label}`;
  return columnChart({
    summary: `Jobs by day: ${series.map(legend).join(', ')}`,
    title: 'Jobs by day',
    unit: 'Day',
    columns: outcomes.map(dayName),
    series,
    legend,
  });
}

export const dayName = ({ day }: DayOutcomes): { name: string; short: string } => ({
  name: day,
  short: day.slice(5),
});
