import { RouteTable } from '../../src/common/rest/route-table.service.js';
import { boot, type TestApp } from '../support/boot.js';
import type { PersonaName } from '../support/personas.js';
import { Samples } from '../support/samples.js';

let test: TestApp;
let samples: Samples;
let answers: Answer[];
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  answers = await everyAnswer();
}, 120_000);
afterAll(() => test.close());

interface FieldInfo {
  type: string;
  choices?: unknown[];
  help_text?: string;
  required?: boolean;
}
interface Metadata {
  name: string;
  description: string;
  actions: Record<string, Record<string, FieldInfo>>;
  parses: string[];
  renders: string[];
}

interface Answer {
  url: string;
  /** True if the URL accepts PUT. */
  isChanged: boolean;
  status: number;
  allow: string;
  body: Metadata;
}

/** Returns OPTIONS of every URL pattern, for an existing object and for a missing object. */
async function everyAnswer(): Promise<Answer[]> {
  const table = test.app.get(RouteTable, { strict: false });
  const all: Answer[] = [];
  for (const { pattern, routes } of table.entries) {
    const [route] = routes.values();
    const isChanged = routes.has('PUT');
    if (!pattern.startsWith('/api/v2')) continue;
    const unknown = pattern.replaceAll(/:\w+/g, '987654');
    for (const url of [await samples.pathOf(route!), `${unknown}/`]) {
      const { status, headers, body } = await test.as.superuser.options(url);
      all.push({ url, isChanged, status, allow: String(headers.allow), body });
    }
  }
  return all;
}

it('OPTIONS describes every URL with name, description, actions and media types', () => {
  const inLines = '/api/v2/bulk/host_create/';
  for (const { url, status, allow, body } of answers) {
    const lines = url === inLines ? ['application/x-ndjson'] : [];
    expect({ url, status }).toEqual({ url, status: 200 });
    expect({ url, allow }).toEqual({ url, allow: expect.stringMatching(/^([A-Z]+, )*OPTIONS$/) });
    expect({ url, ...body }).toMatchObject({
      url,
      name: expect.stringMatching(/\w/),
      description: expect.any(String),
      actions: expect.any(Object),
      parses: [
        'application/json',
        'application/x-www-form-urlencoded',
        'multipart/form-data',
        ...lines,
      ],
      renders: ['application/json', 'text/html', ...lines],
    });
  }
});

it('fields have the form that the command-line client reads', () => {
  const reserved = ['all', 'order_by', 'help', 'filter', 'verbose'];
  for (const { url, isChanged, body } of answers) {
    const keys = Object.keys(body.actions);
    const allowed = ['GET', 'POST', ...(isChanged ? ['PUT'] : [])];
    expect({ url, keys: keys.filter((key) => !allowed.includes(key)) }).toEqual({ url, keys: [] });
    for (const fields of Object.values(body.actions)) {
      for (const [name, info] of Object.entries(fields)) {
        expect({ url, name, type: info.type }).toEqual({ url, name, type: expect.any(String) });
        expect(`${url} ${name}: ${info.help_text ?? ''}`).not.toContain('%');
        for (const choice of info.choices ?? []) expect(choice).toHaveLength(2);
      }
    }
    for (const name of Object.keys(body.actions.GET ?? {})) {
      expect({ url, name, reserved: reserved.includes(name) }).toMatchObject({ reserved: false });
    }
  }
});

it('POST is shown to users who may create', async () => {
  const posts = async (who: 'superuser' | 'orgAdmin' | 'orgMember' | 'auditor', path: string) =>
    'POST' in (await test.as[who].options(path).expect(200)).body.actions;
  expect(await posts('superuser', 'organizations/')).toBe(true);
  expect(await posts('orgAdmin', 'organizations/')).toBe(false);
  expect(await posts('orgAdmin', 'teams/')).toBe(true);
  expect(await posts('orgMember', 'teams/')).toBe(false);
  expect(await posts('auditor', 'teams/')).toBe(false);
  expect(await posts('orgMember', 'tokens/')).toBe(true);
});

it('PUT on an object is shown to users who may change it', async () => {
  const { as, home, make } = test;
  const putOf = async (who: PersonaName, path: string): Promise<string[] | null> => {
    const { body } = await as[who].options(path).expect(200);
    const { PUT } = (body as Metadata).actions;
    return PUT ? Object.keys(PUT) : null;
  };
  const team = `teams/${home.team.id}/`;
  expect(await putOf('orgAdmin', team)).toEqual(['name', 'description', 'organization']);
  expect(await putOf('teamMember', team)).toBeNull();
  expect(await putOf('auditor', team)).toBeNull();
  expect(await putOf('superuser', 'teams/987654/')).toBeNull();
  expect(await putOf('superuser', 'teams/')).toBeNull();
  const inventory = await make.inventory({ organization: home.organization.id });
  const host = await make.host(inventory);
  expect(await putOf('orgAdmin', `hosts/${host.id}/`)).toEqual([
    ...['name', 'description', 'enabled', 'instance_id', 'variables'],
  ]);
  const constructed = await samples.of('constructed_inventory');
  const made = `constructed_inventories/${constructed.id}/`;
  expect(await putOf('orgAdmin', made)).toContain('source_vars');
  expect(await putOf('superuser', `jobs/${(await samples.of('job')).id}/`)).toBeNull();
});

it('choices are the same for reading and writing, and only optional fields have defaults', () => {
  let compared = 0;
  for (const { url, body } of answers) {
    const { GET = {}, ...writes } = body.actions;
    for (const fields of Object.values(writes)) {
      for (const [name, info] of Object.entries(fields)) {
        if (info.required) expect({ url, name, info }).not.toHaveProperty('info.default');
        const shown = GET[name];
        if (!info.choices || !shown) continue;
        compared += 1;
        expect({ url, name, choices: shown.choices }).toEqual({ url, name, choices: info.choices });
        expect(shown).not.toHaveProperty('required');
        expect(shown).not.toHaveProperty('default');
      }
    }
  }
  expect(compared).toBeGreaterThan(20);
  const commands = answers.find(({ url }) => url === '/api/v2/ad_hoc_commands/');
  expect(commands?.body.actions.GET).toMatchObject({ module_name: { type: 'choice' } });
});

it('choices have readable labels', () => {
  // The label of a module is its name.
  const raw = answers.flatMap(({ url, body }) =>
    Object.entries(body.actions).flatMap(([method, fields]) =>
      Object.entries(fields).flatMap(([name, { choices = [] }]) =>
        (choices as [unknown, string][])
          .filter(([value, label]) => name !== 'module_name' && isRaw(value, label))
          .map(([value]) => `${method} ${url} ${name} ${String(value)}`),
      ),
    ),
  );
  expect(raw).toEqual([]);
  const sources = answers.find(({ url }) => url === '/api/v2/inventory_sources/');
  expect(sources?.body.actions.GET?.source?.choices).toContainEqual(['ec2', 'Amazon EC2']);
});

/** Returns true for a label that is the value itself, or is written as an identifier. */
const isRaw = (value: unknown, label: string): boolean => label === value || /_|^[a-z]/.test(label);

it('a list below an object describes what can be sent to it', async () => {
  const { as, home } = test;
  const postOf = async (name: 'orgAdmin' | 'orgMember', path: string): Promise<string[]> => {
    const { body } = await as[name].options(path).expect(200);
    return Object.keys((body as Metadata).actions.POST ?? {});
  };
  const teams = `organizations/${home.organization.id}/teams/`;
  expect(await postOf('orgAdmin', teams)).toContain('name');
  expect(await postOf('orgMember', teams)).toEqual([]);
  const { body } = await as.superuser.get(`teams/${home.team.id}/object_roles/`).expect(200);
  const holders = `roles/${(body.results as { id: number }[])[0]!.id}/users/`;
  expect(await postOf('orgAdmin', holders)).toEqual(['id', 'disassociate']);
});

it('lists describe their search fields, and objects describe their roles', async () => {
  const { body } = await test.as.superuser.options('teams/').expect(200);
  expect(body).toMatchObject({
    name: 'Team List',
    types: ['team'],
    search_fields: ['name', 'description'],
    object_roles: ['admin_role', 'member_role', 'read_role'],
    max_page_size: 200,
  });
  expect(body.related_search_fields).toContain('organization__search');
  expect(body.actions.POST).toMatchObject({
    name: { type: 'string', required: true, max_length: 512 },
    organization: { type: 'id', required: true },
    description: { type: 'string', required: false },
  });
  expect(body.actions.POST).not.toHaveProperty('created');
  expect(body.actions.GET).toMatchObject({
    id: { type: 'integer', filterable: true },
    related: { type: 'object' },
    created: { type: 'datetime' },
  });
});

it('authentication is required, except for public URLs', async () => {
  await test.as.anonymous.options('teams/').expect(401);
  await test.as.anonymous.options('/api/v2/').expect(200);
  await test.as.anonymous.options('/api/v2/ping/').expect(200);
  await test.as.superuser.options('nothing/').expect(404);
});

it('internal details are never shown', () => {
  for (const { url, body } of answers) {
    expect(`${url} ${JSON.stringify(body.actions)}`).not.toMatch(
      /password_hash|"(?!environment_)\w*digest"|session_generation/,
    );
  }
});
