/**
 * Tries every entry of `user_capabilities`: shown entries work, and entries that are not shown are refused.
 * Budget: 40 s, because each capability that is shown is used on an object of its own.
 */
import { resource, resources } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import type { PersonaName } from '../support/personas.js';
import { webhookSample } from '../support/payloads/webhooks.js';
import { Samples, sampleTypes } from '../support/samples.js';
import { addHook } from '../support/webhooks.js';

const CALLERS = ['superuser', 'orgAdmin', 'teamMember', 'auditor'] as const satisfies PersonaName[];

type Answer = PromiseLike<{ status: number; body: unknown }>;
type Use = (client: ApiClient, url: string, about: About) => Answer | Promise<Answer>;
type Caller = (typeof CALLERS)[number];
type Shown = Record<string, unknown> & {
  summary_fields: { user_capabilities: Record<string, boolean> };
};

interface About {
  caller: Caller;
  /** Object as it was shown. */
  shown: Shown;
}

let counter = 0;
const fresh = (): { name: string } => ({ name: `Used ${(counter += 1)}` });
const rrule = 'DTSTART:20300101T000000Z RRULE:FREQ=YEARLY;INTERVAL=1';

/** Requests that the capabilities permit. */
const USES: Record<string, Use> = {
  edit: (client, url) => client.patch(url, {}),
  delete: (client, url) => client.delete(url),
  copy: (client, url) => client.post(`${url}copy/`, fresh()),
  schedule: (client, url) => client.post(`${url}schedules/`, { ...fresh(), rrule }),
  redeliver: (client, url) => client.post(`${url}redeliver/`, {}),
  adhoc: async (client, url) => {
    const credential = (await test.make.credential({ organization: samples.home })).id;
    await test.make.grant('credential', { id: credential }, 'use_role', {
      user: test.as.users.teamMember,
    });
    return client.post(`${url}ad_hoc_commands/`, { module_name: 'ping', credential });
  },
  // Credentials are used on a template that the caller administers.
  use: async (client, _url, { caller, shown }) => {
    const template = await test.make.jobTemplate();
    await test.make.grant('job_template', template, 'admin_role', { user: test.as.users[caller] });
    const { id } = shown;
    const answer = await client.post(`job_templates/${template.id}/credentials/`, { id });
    await test.as.superuser.delete(`job_templates/${template.id}/`).expect(204);
    return answer;
  },
};

/** Request that a `start` capability permits, by type: on the object, or on the object that it updates. */
const STARTS: Record<string, string> = {
  job_template: 'launch',
  workflow_job_template: 'launch',
  project: 'update',
  inventory_source: 'update',
  job: 'relaunch',
  workflow_job: 'relaunch',
  ad_hoc_command: 'relaunch',
};
/** Types whose start capability is that of their source, while the source exists. */
const STARTS_OF_SOURCE: Record<string, string> = {
  project_update: 'projects',
  inventory_update: 'inventory_sources',
};

function useOf(type: string, word: string): Use {
  if (word !== 'start') return USES[word]!;
  const path = STARTS[type];
  if (path) return (client, url) => client.post(`${url}${path}/`, {});
  return (client, _url, { shown: { unified_job_template: source } }) => {
    const collection = STARTS_OF_SOURCE[type];
    return collection && source !== null
      ? client.post(`${collection}/${String(source)}/update/`, {})
      : Promise.resolve({ status: 404, body: 'No request starts it.' });
  };
}

let test: TestApp;
let samples: Samples;
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
});
afterAll(() => test.close());

/** Creates an organization to delete, because the samples need theirs. */
async function ownOrganization(): Promise<{ id: number }> {
  const organization = await test.make.organization();
  const { orgAdmin, teamMember } = test.as.users;
  await test.make.grant('organization', organization, 'admin_role', { user: orgAdmin });
  await test.make.grant('organization', organization, 'read_role', { user: teamMember });
  return organization;
}

const withCapabilities = (): string[] =>
  sampleTypes().filter((type) => Object.keys(resource(type).capabilities).length > 0);

/** Creates a delivery with a stored payload, of a template that still receives from its service. */
async function keptDelivery(): Promise<{ id: number }> {
  const hook = await addHook(test, await samples.of('job_template'), 'service_a');
  const { body } = await hook.send(webhookSample('service_a', 'push')).expect(202);
  return { id: body.delivery as number };
}

const GIT = { scm_type: 'git', scm_url: 'https://git.example.org/play.git' };

async function gitProject(): Promise<{ id: number }> {
  const project = await samples.of('project');
  await test.as.superuser.patch(resource('project').url(project.id), GIT).expect(200);
  return project;
}

async function gitUpdate(): Promise<{ id: number }> {
  await gitProject();
  const { id } = await samples.of('project_update');
  await test.database.execute(sql`UPDATE unified_jobs SET scm_type = 'git' WHERE id = ${id}`);
  return { id };
}

/** Creates a run of a workflow template. */
async function ownRun(): Promise<{ id: number }> {
  const { id } = await samples.of('workflow_job');
  const template = (await samples.of('workflow_job_template')).id;
  await test.database.execute(sql`
    UPDATE unified_jobs SET is_bulk_job = false, unified_job_template_id = ${template}
    WHERE id = ${id}`);
  return { id };
}

/** Creates a run whose template or inventory was deleted. */
async function orphan(run: Promise<{ id: number }>): Promise<{ id: number }> {
  const { id } = await run;
  await test.database.execute(sql`
    UPDATE unified_jobs SET unified_job_template_id = NULL, job_template_id = NULL,
      project_id = NULL, inventory_source_id = NULL, inventory_id = NULL WHERE id = ${id}`);
  return { id };
}

const orphanOf = (type: string) => (): Promise<{ id: number }> => orphan(samples.of(type));

/** Objects to try in addition to the sample of a type. */
const FURTHER: Record<string, (() => Promise<{ id: number }>)[]> = {
  webhook_delivery: [keptDelivery],
  project: [gitProject],
  project_update: [gitUpdate, () => orphan(gitUpdate())],
  inventory_update: [orphanOf('inventory_update')],
  job: [orphanOf('job')],
  ad_hoc_command: [orphanOf('ad_hoc_command')],
  workflow_job: [ownRun, () => orphan(ownRun())],
};

const sampleOf = (type: string): Promise<{ id: number }> =>
  type === 'organization' ? ownOrganization() : samples.of(type);

interface ShownRole {
  id: number | null;
  team_id?: number;
  user_capabilities: { unattach: boolean };
}

/** Returns true if the client can revoke the role, and grants it again. */
async function isRevoked(client: ApiClient, path: string, id: number): Promise<boolean> {
  const { status } = await client.post(path, { id, disassociate: true });
  if (status < 300) await test.as.superuser.post(path, { id }).expect(204);
  return status < 300;
}

// Runs before the other tests, whose objects grant the same role to the home team many times.
describe('Roles', () => {
  beforeAll(async () => {
    samples.reset();
    await ownOrganization();
    const { orgAdmin, teamMember } = test.as.users;
    const template = await samples.of('job_template');
    await test.make.grant('job_template', template, 'admin_role', { user: orgAdmin });
    const credential = await samples.of('credential');
    await test.make.grant('credential', credential, 'use_role', { user: teamMember });
  });

  it.each(CALLERS)('%s may revoke the roles for which unattach is true', async (caller) => {
    const client = test.as[caller];
    const faults: string[] = [];
    // Many objects show the same role of their organization.
    const asked = new Set<string>();
    const check = async (path: string, id: number, role: ShownRole): Promise<void> => {
      const { unattach } = role.user_capabilities;
      const question = `${path} ${id} ${String(unattach)}`;
      if (asked.has(question)) return;
      asked.add(question);
      if ((await isRevoked(client, path, id)) !== unattach) {
        faults.push(question);
      }
    };
    for (const definition of resources().filter(({ roles }) => roles.length > 0)) {
      const { id } = await samples.of(definition.type);
      const list = await client.get(`${definition.url(id)}access_list/?page_size=200`);
      const { results = [] } = list.body as {
        results?: { id: number; summary_fields: Record<string, { role: ShownRole }[]> }[];
      };
      for (const { id: user, summary_fields: summary } of results) {
        const ways = [...summary.direct_access!, ...summary.indirect_access!];
        for (const { role } of ways) {
          // System-wide flags are not roles.
          if (role.id === null) continue;
          const holders = role.team_id === undefined ? 'users' : 'teams';
          await check(`roles/${role.id}/${holders}/`, role.team_id ?? user, role);
        }
      }
    }
    const holders = [
      ...Object.values(test.as.users).map(({ id }) => `users/${id}/roles/`),
      `teams/${test.home.team.id}/roles/`,
    ];
    for (const path of holders) {
      const { body } = await client.get(`${path}?page_size=200`);
      const { results = [] } = body as { results?: { id: number; summary_fields: object }[] };
      for (const { id, summary_fields: summary } of results) {
        await check(path, id, { id, ...(summary as Pick<ShownRole, 'user_capabilities'>) });
      }
    }
    expect(faults).toEqual([]);
    expect(asked.size).toBeGreaterThan(5);
  });
});

it.each(CALLERS)('%s may do what user_capabilities shows, and nothing else', async (caller) => {
  const faults: string[] = [];
  samples.reset();
  for (const type of withCapabilities()) {
    faults.push(...(await faultsOf(caller, type, () => sampleOf(type))));
    for (const make of FURTHER[type] ?? []) {
      samples.reset();
      faults.push(...(await faultsOf(caller, type, make)));
      // The new object differs from the sample of its type.
      samples.reset();
    }
  }
  expect(faults).toEqual([]);
});

/** Tries every capability of an object, which is created again only after its deletion. */
async function faultsOf(
  caller: Caller,
  type: string,
  make: () => Promise<{ id: number }>,
): Promise<string[]> {
  const client = test.as[caller];
  const faults: string[] = [];
  let object: { url: string; shown: Shown } | undefined;
  for (const word of Object.keys(resource(type).capabilities)) {
    if (!object) {
      const url = resource(type).url((await make()).id);
      const { status, body } = await client.get(url);
      if (status !== 200) return faults;
      object = { url, shown: body as Shown };
    }
    const { url, shown } = object;
    const isShown = shown.summary_fields.user_capabilities[word] === true;
    // Active runs would be another reason to refuse.
    await test.database.execute(
      sql`UPDATE unified_jobs SET status = 'successful' WHERE status <> 'successful'`,
    );
    const { status, body } = await useOf(type, word)(
      client,
      url.replace('constructed_inventories', 'inventories'),
      { caller, shown },
    );
    if (isShown !== status < 300) {
      faults.push(`${type} ${word} ${String(isShown)}: ${status} ${JSON.stringify(body)}`);
    }
    if (word === 'delete' && status < 300) {
      samples.reset();
      object = undefined;
    }
  }
  return faults;
}

/** Returns the properties of every schema of that name in a document. */
function membersOf(name: string, schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => [
    ...(key === name ? Object.keys((value as { properties?: object }).properties ?? {}) : []),
    ...membersOf(name, value),
  ]);
}

it('every capability that OpenAPI describes has a tested request', async () => {
  const { body } = await test.as.superuser.get('/api/openapi.json').expect(200);
  const words = new Set(membersOf('user_capabilities', body.components.schemas));
  expect(words.size).toBeGreaterThan(7);
  expect([...words].sort()).toEqual([...Object.keys(USES), 'start', 'unattach'].sort());
});
