/**
 * Pages show hostile text as text and execute none of it: a canary is written to every text column of every
 * resource, directly in the database.
 *
 * Budget: 25 s, because it looks for hostile text on every page.
 */
import type { Page } from 'playwright-core';

import type { Field } from '../../src/common/fields/field.js';
import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { resources, type ResourceDefinition } from '../../src/common/resource/define-resource.js';
import { ident, sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import { Samples } from '../support/samples.js';
import { inBrowser, visit } from './browser.js';

/** A deep run opens hundreds of pages sequentially. */
if (IS_DEEP) jest.setTimeout(900_000);

const MARK = 'canary-7f3a';
const CANARY = `${MARK}</pre></textarea></title><script>alert(1)</script><img src=x onerror=alert(2)>"'><svg onload=alert(3)>{{7*7}}`;

/** Kinds of fields whose text comes from users or other systems. The values of choices are fixed. */
const TEXTUAL = new Set<Field['kind']>(['string', 'text', 'email', 'variables']);
/** Columns with internal values, which determine the kind of a row. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  ...['type', 'status', 'object1', 'object2', 'object_type', 'object_association'],
  ...['role_field', 'content_type', 'notification_type', 'service', 'verdict', 'state', 'uuid'],
  ...['parent_uuid', 'webhook_service', 'webhook_guid', 'guid', 'local_path', 'rrule'],
  ...['slug', 'external_account'],
]);

let test: TestApp;
let samples: Samples;
/** Resource types that got at least one canary. */
const marked = new Set<string>();

beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  await samples.linkAll();
  for (const definition of resources()) await mark(definition);
  await markDocuments();
});
afterAll(() => test.close());

const fieldsToMark = ({ fields }: ResourceDefinition): readonly Field[] =>
  fields.filter(
    ({ name, kind, column, internal, choices }) =>
      column !== null &&
      !internal &&
      choices.length === 0 &&
      TEXTUAL.has(kind) &&
      !OWN_WORDS.has(name),
  );

async function mark(definition: ResourceDefinition): Promise<void> {
  if (!definition.stored || definition.variants || definition.type === 'role') return;
  const { id } = await samples.of(definition.type);
  for (const { name, kind, column } of fieldsToMark(definition)) {
    const text = `${CANARY} ${id}`;
    // Variables are documents, whose names and values users write.
    const isDocument = kind === 'variables' || name === 'extra_vars';
    const value = isDocument ? JSON.stringify({ [text]: text }) : text;
    const changed = await test.database.execute(sql`
      UPDATE ${ident(definition.table)} SET ${ident(column!)} = ${value} WHERE id = ${id}`);
    if (changed > 0) marked.add(definition.type);
  }
}

/** Documents from users or other systems, in the shapes that pages read. */
const DOCUMENTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  activity_stream: { changes: { [CANARY]: [CANARY, CANARY] } },
  credential_types: {
    inputs: {
      fields: [{ id: 'one', label: CANARY, help_text: CANARY, type: 'string', choices: [CANARY] }],
    },
    injectors: { extra_vars: { [CANARY]: CANARY } },
  },
  credentials: { inputs: { one: CANARY, [CANARY]: CANARY } },
  job_events: {
    event_data: {
      res: { msg: CANARY, stdout: CANARY, stderr: CANARY, [CANARY]: CANARY },
      ...{ task: CANARY, play: CANARY, host: CANARY, role: CANARY },
    },
  },
  notification_templates: {
    notification_configuration: { url: CANARY, [CANARY]: CANARY },
    messages: { error: { message: CANARY, body: CANARY } },
  },
  notifications: { body: { [CANARY]: CANARY } },
  schedules: { extra_data: { [CANARY]: CANARY } },
  unified_job_templates: {
    survey_spec: {
      ...{ name: CANARY, description: CANARY },
      spec: ['text', 'multiplechoice', 'multiselect', 'password', 'textarea'].map(
        (type, place) => ({
          ...{ type, variable: `answer_${place}`, required: false, default: CANARY },
          ...{ question_name: CANARY, question_description: CANARY, choices: [CANARY, 'other'] },
        }),
      ),
    },
    webhook_filters: { refs: [CANARY] },
    playbook_files: [CANARY],
    inventory_files: [CANARY],
  },
  unified_jobs: {
    artifacts: { [CANARY]: CANARY },
    job_env: { [CANARY]: CANARY },
    changes: { [CANARY]: CANARY },
  },
  webhook_deliveries: { payload: { [CANARY]: CANARY } },
  webhook_status_posts: {
    attempts: [
      { number: 1, at: new Date(0).toISOString(), answer: 500, detail: CANARY, duration_ms: 1 },
    ],
  },
  workflow_job_nodes: { extra_data: { [CANARY]: CANARY } },
  workflow_job_template_nodes: { extra_data: { [CANARY]: CANARY } },
};

async function markDocuments(): Promise<void> {
  const { database } = test;
  for (const [table, columns] of Object.entries(DOCUMENTS)) {
    for (const [column, value] of Object.entries(columns)) {
      const changed = await database.execute(sql`
        UPDATE ${ident(table)} SET ${ident(column)} = ${JSON.stringify(value)}`);
      expect([table, column, changed > 0]).toEqual([table, column, true]);
    }
  }
  // Makes pages show the survey of a template and the cause of a failure.
  for (const statement of [
    sql`UPDATE unified_job_templates SET survey_enabled = TRUE WHERE survey_spec IS NOT NULL`,
    sql`UPDATE job_events SET event = 'runner_on_failed', failed = TRUE`,
    sql`UPDATE unified_jobs SET status = 'failed', failed = TRUE WHERE type IN ('job', 'ad_hoc_command')`,
  ]) {
    expect(await database.execute(statement)).toBeGreaterThan(0);
  }
}

/**
 * Script that finds elements that could execute code, and elements that the content security policy forbids.
 */
const ALIVE = `const aliveIn = (page) => [...page.querySelectorAll('*')].filter(
  (one) =>
    one.matches('script:not([src]), style, img:not(header img.mark[src="/logo/"]), iframe, object, embed, base, meta[http-equiv]') ||
    [...one.attributes].some(
      ({ name, value }) => /^on|^style$|^srcdoc$/i.test(name) || /^\\s*(javascript|data):/i.test(value),
    ),
).map((one) => one.outerHTML.slice(0, 200));`;

/**
 * Script that lists the attributes by which the product's scripts find elements: all ways in which they use
 * the text of a page.
 */
const HOOKS = `[...new Set([...page.querySelectorAll('*')].flatMap((one) =>
  Object.keys(one.dataset).filter((name) => !['label', 'line', 'time'].includes(name)),
))].sort().join(' ')`;

/** Page as the HTML parser of the browser reads it, without executing any of it. */
interface ParsedPage {
  status: number;
  type: string;
  alive: string[];
  hooks: string;
  text: string;
}

const parsedPage = (page: Page, path: string): Promise<ParsedPage> =>
  page.evaluate(`(async () => {
    ${ALIVE}
    const response = await fetch(${JSON.stringify(path)}, { headers: { Accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const type = response.headers.get('content-type') ?? '';
    const text = page.body.textContent;
    return { status: response.status, type, alive: aliveIn(page), hooks: ${HOOKS}, text };
  })()`);

/** Returns all pages: lists, objects, lists below objects and documents. */
const pages = (): readonly TableRoute[] =>
  test.app
    .get(RouteTable, { strict: false })
    .routes.filter(
      ({ method, pattern, info }) =>
        method === 'GET' &&
        info?.access === 'authenticated' &&
        !/\/(stream|metrics|docs)$/.test(pattern) &&
        info.produces === undefined,
    );

inBrowser()('hostile text', () => {
  it('is stored in every resource with text fields', () => {
    const textual = resources().filter(
      (one) => one.stored && !one.variants && one.type !== 'role' && fieldsToMark(one).length > 0,
    );
    expect(textual.map(({ type }) => type).filter((type) => !marked.has(type))).toEqual([]);
    expect(marked.size).toBeGreaterThan(15);
  });

  it('is shown as text on every page, also after the scripts have run', async () => {
    const { page, faults, close } = await visit(test, test.as.users.superuser);
    await page.goto('/api/v2/');
    const shownOn: string[] = [];
    const broken: string[] = [];
    /** Pages to open, by the scripts that run on them: one page of each kind, in a deep run every page. */
    const toOpen = new Map<string, string>();
    for (const route of pages()) {
      const path = await samples.pathOf(route);
      const { status, type, alive, hooks, text } = await parsedPage(page, path);
      if (status >= 500 || !type.startsWith('text/html')) broken.push(`${path} ${status} ${type}`);
      expect([path, ...alive]).toEqual([path]);
      if (text.includes(MARK)) shownOn.push(path);
      toOpen.set(IS_DEEP ? path : hooks, path);
    }
    expect(broken).toEqual([]);
    // Most pages show a canary. Otherwise the test would prove nothing.
    expect(shownOn.length).toBeGreaterThan(50);
    expect(toOpen.size).toBeGreaterThan(5);
    for (const path of toOpen.values()) {
      await page.goto(path);
      const alive = await page.evaluate<string[]>(
        `(() => { ${ALIVE} return aliveIn(document); })()`,
      );
      expect([path, ...alive]).toEqual([path]);
    }
    expect(faults).toEqual([]);
    await close();
  });
});
