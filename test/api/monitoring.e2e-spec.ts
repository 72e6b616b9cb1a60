/** The files of deploy/monitoring name metrics and labels that the server has, in expressions of PromQL. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { sql } from '../../src/database/sql.js';
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
let metrics: Record<string, { samples: { labels: Record<string, string> }[] }>;
let labels: string[];

beforeAll(async () => {
  test = await boot();
  await fill();
  const { body } = await test.as.superuser.get('metrics/?format=json').expect(200);
  metrics = body;
  labels = Object.values(metrics).flatMap(({ samples }) =>
    samples.flatMap((sample) => Object.keys(sample.labels)),
  );
});
afterAll(() => test.close());

/** Gives every metric a value, because those without one show no labels. */
async function fill(): Promise<void> {
  const { id } = await test.make.notificationTemplate({ organization: test.home.organization.id });
  for (const statement of [
    sql`INSERT INTO unified_jobs (type, name, status) VALUES ('job', 'Waits', 'pending')`,
    sql`INSERT INTO worker_nodes (name, hostname, host_key, pid, start_time, capacity)
      VALUES ('a', 'a', 'key', 1, '1', 1)`,
    sql`INSERT INTO instances (hostname) VALUES ('a')`,
    sql`INSERT INTO outbox (queue, subject_id, run_at) VALUES ('runs', 1, now())`,
    sql`INSERT INTO notifications (notification_template_id, notification_type, status, event, error,
        next_attempt_at)
      VALUES (${id}, 'webhook', 'pending', 'success', '', NULL),
        (${id}, 'webhook', 'failed', 'success', 'away', now())`,
    sql`INSERT INTO outbound_breakers (destination, open_until)
      VALUES ('one webhook', now() + interval '1 hour')`,
  ]) {
    await test.database.execute(statement);
  }
}

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

it.each(expressions)('%s', (expression) => {
  const names = partsOf(expression, ['Identifier']);
  expect(names).not.toEqual([]);
  expect(names.filter((name) => !(name in metrics || OF_PROMETHEUS.includes(name)))).toEqual([]);
  const known = [...labels, ...OF_PROMETHEUS];
  expect(partsOf(expression, ['LabelName']).filter((label) => !known.includes(label))).toEqual([]);
});

it('alerts have a severity, a description and a unique name', () => {
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
