import { type ModuleRun, roleOf } from './module-run.js';
import type { Item } from './python-values.js';
import { member, ModuleFailure } from './wire.js';

/** Parameters that name the objects of a role, and the endpoint of their look-up. */
const OBJECTS: Record<string, string> = {
  credentials: 'credentials',
  inventories: 'inventories',
  job_templates: 'job_templates',
  organizations: 'organizations',
  projects: 'projects',
  target_teams: 'teams',
  instance_groups: 'instance_groups',
  workflows: 'workflow_job_templates',
};
const HOLDERS = ['users', 'teams'];
/** Endpoints that are searched in all organizations. */
const EVERYWHERE = ['organizations', 'users'];

/** Grants users and teams a role on objects, or revokes it. */
export async function runRole(run: ModuleRun): Promise<void> {
  const { params } = run;
  const within: Item =
    params.lookup_organization === undefined
      ? {}
      : { organization: await run.idOf('organizations', String(params.lookup_organization)) };
  const objects: Item[] = [];
  for (const [parameter, endpoint] of Object.entries(OBJECTS))
    objects.push(...(await named(run, parameter, endpoint, within)));
  const lists: { list: string; ids: number[] }[] = [];
  for (const holders of HOLDERS) {
    const ids = (await named(run, holders, holders, within)).map((one) => Number(one.id));
    if (ids.length === 0) continue;
    for (const object of objects) {
      const role = roleOf(object, `${String(params.role)}_role`);
      lists.push({ list: `roles/${String(member(role, 'id'))}/${holders}/`, ids });
    }
  }
  for (const { list, ids } of lists) await hold(run, list, ids);
}

async function named(
  run: ModuleRun,
  parameter: string,
  endpoint: string,
  within: Item,
): Promise<Item[]> {
  const names = run.params[parameter];
  const found: Item[] = [];
  for (const name of Array.isArray(names) ? names.map(String) : []) {
    const query = EVERYWHERE.includes(parameter) ? {} : within;
    const item = await run.find(endpoint, { nameOrId: name, query });
    if (!item) throw new ModuleFailure(`Missing: ${name}`);
    found.push(item);
  }
  return found;
}

async function hold(run: ModuleRun, list: string, ids: readonly number[]): Promise<void> {
  const present = (await run.all(list)).map((one) => Number(member(one, 'id')));
  if (run.params.state === 'absent')
    for (const id of ids.filter((one) => present.includes(one)))
      await run.tie(list, { id, disassociate: true });
  else for (const id of ids.filter((one) => !present.includes(one))) await run.tie(list, { id });
}
