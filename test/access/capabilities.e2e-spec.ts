/**
 * Tries every entry of `user_capabilities` and every write in `actions`, of every resource: shown entries
 * work, and entries that are not shown are refused.
 * Budget: 60 s, because each capability that is shown is used on an object of its own.
 */
import { resource, resources } from '../../src/common/resource/registry.js';
import { sql } from '../../src/database/sql.js';
import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import type { PersonaName } from '../support/personas.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples, sampleTypes } from '../support/samples.js';

const CALLERS = ['superuser', 'orgAdmin', 'teamMember', 'auditor'] as const satisfies PersonaName[];

type Answer = PromiseLike<{ status: number; body: unknown }>;
type Use = (client: ApiClient, url: string) => Answer | Promise<Answer>;

let counter = 0;
const fresh = (): { name: string } => ({ name: `Used ${(counter += 1)}` });
const rrule = 'DTSTART:20300101T000000Z RRULE:FREQ=YEARLY;INTERVAL=1';

/** The request that a capability stands for, by type where it is not the same for all. */
const USES: Record<string, Use> = {
  edit: (client, url) => client.patch(url, {}),
  delete: (client, url) => client.delete(url),
  copy: (client, url) => client.post(`${url}copy/`, fresh()),
  schedule: (client, url) => client.post(`${url}schedules/`, { ...fresh(), rrule }),
  adhoc: async (client, url) => {
    const credential = (await test.make.credential({ organization: samples.home })).id;
    await test.make.grant('credential', { id: credential }, 'use_role', {
      user: test.as.users.teamMember,
    });
    return client.post(`${url}ad_hoc_commands/`, { module_name: 'ping', credential });
  },
};
const STARTS: Record<string, string> = {
  job_template: 'launch',
  workflow_job_template: 'launch',
  project: 'update',
  inventory_source: 'update',
  job: 'relaunch',
  workflow_job: 'relaunch',
  ad_hoc_command: 'relaunch',
};
/** Words without a request of their own, or whose request needs what samples lack: a kept payload. */
const WITHOUT_REQUEST = new Set(['use', 'redeliver']);

function useOf(type: string, word: string): Use | null {
  if (WITHOUT_REQUEST.has(word)) return null;
  if (word !== 'start') return USES[word]!;
  const path = STARTS[type];
  return path ? (client, url) => client.post(`${url}${path}/`, {}) : null;
}

let test: TestApp;
let samples: Samples;
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
});
afterAll(() => test.close());

/** The home of the samples must not be deleted. */
async function ownOrganization(): Promise<{ id: number }> {
  const organization = await test.make.organization();
  const { orgAdmin, teamMember } = test.as.users;
  await test.make.grant('organization', organization, 'admin_role', { user: orgAdmin });
  await test.make.grant('organization', organization, 'read_role', { user: teamMember });
  return organization;
}

const withCapabilities = (): string[] =>
  sampleTypes().filter((type) => Object.keys(resource(type).capabilities).length > 0);

it.each(CALLERS)('%s may do what user_capabilities say, and nothing else', async (caller) => {
  const client = test.as[caller];
  const faults: string[] = [];
  for (const type of withCapabilities()) {
    for (const word of Object.keys(resource(type).capabilities)) {
      const use = useOf(type, word);
      if (!use) continue;
      samples.reset();
      const { id } = await (type === 'organization' ? ownOrganization() : samples.of(type));
      const url = resource(type).url(id);
      const shown = await client.get(url);
      if (shown.status !== 200) continue;
      const { summary_fields: summary } = shown.body as {
        summary_fields: { user_capabilities: Record<string, boolean> };
      };
      const isShown = summary.user_capabilities[word] === true;
      // Work that goes on is another reason to refuse.
      await test.database.execute(sql`UPDATE unified_jobs SET status = 'successful'`);
      const { status, body } = await use(
        client,
        url.replace('constructed_inventories', 'inventories'),
      );
      if (isShown !== status < 300) {
        faults.push(`${type} ${word} ${String(isShown)}: ${status} ${JSON.stringify(body)}`);
      }
    }
  }
  expect(faults).toEqual([]);
});

it.each(CALLERS)('%s may send what actions of OPTIONS show, and nothing else', async (caller) => {
  const client = test.as[caller];
  const faults: string[] = [];
  const send = async (url: string, method: 'POST' | 'PUT', body: object): Promise<void> => {
    const options = await client.options(url);
    if (options.status !== 200) return;
    const { actions } = options.body as { actions: Record<string, object> };
    const { status, body: text } = await (method === 'POST'
      ? client.post(url, body)
      : client.put(url, body));
    if (status === 405) return;
    const isShown = method in actions;
    if (isShown !== status < 300) {
      faults.push(`${method} ${url} ${String(isShown)}: ${status} ${JSON.stringify(text)}`);
    }
  };
  samples.reset();
  const { routes } = test.app.get(RouteTable, { strict: false });
  const collections = routes.filter(
    ({ method, pattern, info }) =>
      method === 'POST' && info?.kind === 'create' && !pattern.includes(':'),
  );
  expect(collections.length).toBeGreaterThan(10);
  // The owner of a credential may add to it: credentials come last.
  const isLast = ({ pattern }: TableRoute): number => Number(pattern.endsWith('/credentials'));
  collections.sort((a, b) => isLast(a) - isLast(b));
  for (const route of collections) {
    const body = (await bodyOf(samples, route)) ?? {};
    // Everybody may have credentials of their own.
    const own = { organization: undefined, user: test.as.users[caller].id };
    const isOwn = route.info?.resource?.type === 'credential';
    await send(`${route.pattern}/`, 'POST', isOwn ? { ...body, ...own } : body);
  }
  for (const definition of resources().filter(({ stored, variants }) => stored && !variants)) {
    const { id } = await samples.of(definition.type);
    const url = definition.url(id);
    const { body } = await test.as.superuser.get(url);
    await send(url, 'PUT', body as object);
  }
  expect(faults).toEqual([]);
});
