/**
 * Tries every write in `actions` of OPTIONS, of every resource and every sub-list: shown entries work, and
 * entries that are not shown are refused.
 * Budget: 45 s, because it creates and attaches in every list, as four callers.
 */
import { resource, resources } from '../../src/common/resource/define-resource.js';
import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import type { PersonaName } from '../support/personas.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples } from '../support/samples.js';

const CALLERS = ['superuser', 'orgAdmin', 'teamMember', 'auditor'] as const satisfies PersonaName[];
type Caller = (typeof CALLERS)[number];

let test: TestApp;
let samples: Samples;
// Objects and grants of a caller in one test would show further actions in the next.
beforeEach(async () => {
  test = await boot();
  samples = new Samples(test);
});
afterEach(() => test.close());

it.each(CALLERS)('%s may send the actions that OPTIONS shows, and no others', async (caller) => {
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
    // Every caller may have personal credentials.
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

/** Returns the parts of `actions.POST` that a sub-list shows: creating by a body, attaching by an id. */
async function shownPosts(
  client: ApiClient,
  url: string,
): Promise<{ body: boolean; attach: boolean }> {
  const { status, body } = await client.options(url);
  const names = status === 200 ? Object.keys((body.actions.POST as object | undefined) ?? {}) : [];
  return {
    attach: names.includes('disassociate'),
    body: names.some((name) => !['id', 'disassociate'].includes(name)),
  };
}

const credentialOf = (namespace: string): Promise<{ id: number }> =>
  test.make.credential({ organization: samples.home, namespace });

/** Returns a credential for a saved launch of the template, which prompts for one. */
async function askedCredential(): Promise<{ id: number }> {
  const template = resource('job_template').url((await samples.of('job_template')).id);
  await test.as.superuser.patch(template, { ask_credential_on_launch: true }).expect(200);
  return samples.of('credential');
}

const otherNode = async (): Promise<{ id: number }> =>
  test.make.workflowNode(await samples.of('workflow_job_template'));

/** Creates a role that the caller may grant. */
async function grantableRole(caller: Caller): Promise<{ id: number }> {
  const template = await test.make.jobTemplate({ organization: samples.home });
  await test.make.grant('job_template', template, 'admin_role', { user: test.as.users[caller] });
  return test.make.role('job_template', template, 'read_role');
}

/** Objects to attach where the sample of the type does not fit. */
const FITTING: Record<string, (caller: Caller) => Promise<{ id: number }>> = {
  'organizations/:id/galaxy_credentials': () => credentialOf('galaxy_api_token'),
  'inventory_sources/:id/credentials': () => credentialOf('aws'),
  'schedules/:id/credentials': askedCredential,
  'workflow_job_template_nodes/:id/credentials': askedCredential,
  'workflow_job_template_nodes/:id/success_nodes': otherNode,
  'workflow_job_template_nodes/:id/failure_nodes': otherNode,
  'workflow_job_template_nodes/:id/always_nodes': otherNode,
  'groups/:id/children': async () => test.make.group(await samples.of('inventory')),
  'users/:id/roles': grantableRole,
  'teams/:id/roles': grantableRole,
};

/** Creates an object that the caller may attach if the parent permits it. */
async function fitting(route: TableRoute, caller: Caller): Promise<{ id: number }> {
  const { type, roles } = route.info!.resource!;
  const make = FITTING[route.pattern.slice('/api/v2/'.length)] ?? (() => samples.of(type));
  const child = await make(caller);
  if (roles.some(({ field }) => field === 'use_role')) {
    await test.make.grant(type, child, 'use_role', { user: test.as.users[caller] });
  }
  return child;
}

const postsOfSubLists = (): TableRoute[] =>
  test.app
    .get(RouteTable, { strict: false })
    .routes.filter(
      ({ method, info }) =>
        method === 'POST' && info?.parent && ['create', 'associate'].includes(String(info.kind)),
    );

it.each(CALLERS)('%s may create and attach below objects as OPTIONS shows', async (caller) => {
  const client = test.as[caller];
  const faults: string[] = [];
  const check = async (url: string, isShown: boolean, body: object): Promise<void> => {
    const { status, body: text } = await client.post(url, body);
    if (isShown === status < 300) return;
    faults.push(`${url} ${JSON.stringify(body)} ${String(isShown)}: ${status} ${text?.detail}`);
  };
  const lists = postsOfSubLists();
  expect(lists.length).toBeGreaterThan(60);
  for (const route of lists) {
    const url = await samples.pathOf(route);
    const shown = await shownPosts(client, url);
    const { kind, attach } = route.info!;
    if (kind === 'create') {
      const body = await bodyOf(samples, route);
      // Every caller may have personal credentials.
      const own = { organization: undefined, user: test.as.users[caller].id };
      const isOwn = route.info!.parent!.type === 'credential_type';
      await check(url, shown.body, isOwn ? { ...body, ...own } : { ...body });
    }
    if (attach || kind === 'associate') {
      const { id } = shown.attach
        ? await fitting(route, caller)
        : await samples.of(route.info!.resource!.type);
      await check(url, shown.attach, { id });
      // An attached object may give the caller more permissions.
      if (shown.attach) samples.reset();
    }
  }
  expect(faults).toEqual([]);
});
