/** The files of deploy/monitoring name metrics and labels that the server has, in expressions of PromQL. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { boot, type TestApp } from '../support/boot.js';

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string };
}
interface Panel {
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { expr: string; legendFormat: string }[];
}

/** Labels of metrics that have no value in an empty installation (src/api-root/metrics.service.ts). */
const DECLARED = ['status', 'isolation', 'queue', 'notification_type', 'kind'];
/** Labels and metrics that Prometheus adds. */
const OF_PROMETHEUS = ['up', 'job', 'instance'];

const file = (name: string): string =>
  readFileSync(join(PACKAGE_FOLDER, 'deploy', 'monitoring', name), 'utf8');
const rules = (parse(file('alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const { panels } = JSON.parse(file('dashboard.json')) as { panels: Panel[] };
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

/** Returns the texts of the nodes of some kinds. */
function partsOf(expression: string, kinds: readonly string[]): string[] {
  const found: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${expression}`);
      if (kinds.includes(type.name)) found.push(expression.slice(from, to));
    },
  });
  return found;
}

it.each(expressions)('%s', async (expression) => {
  const { body } = await test.as.superuser.get('metrics/?format=json').expect(200);
  const metrics = body as Record<string, { samples: { labels: Record<string, string> }[] }>;
  const names = partsOf(expression, ['Identifier']);
  expect(names).not.toEqual([]);
  expect(names.filter((name) => !(name in metrics || OF_PROMETHEUS.includes(name)))).toEqual([]);
  const described = Object.values(metrics).flatMap(({ samples }) =>
    samples.flatMap(({ labels }) => Object.keys(labels)),
  );
  const known = [...described, ...DECLARED, ...OF_PROMETHEUS];
  expect(partsOf(expression, ['LabelName']).filter((label) => !known.includes(label))).toEqual([]);
});

it('alerts say how serious they are and what happened, each under a name of its own', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { labels, annotations } of rules) {
    expect(['critical', 'warning']).toContain(labels.severity);
    expect(annotations.summary).toMatch(/^[A-Z].*\.$/);
  }
});

it('panels of the dashboard fill a grid of 24 columns without overlapping', () => {
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_none, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(cells.filter((cell) => Number(cell.split(' ')[0]) >= 24)).toEqual([]);
});
