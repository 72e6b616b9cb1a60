/**
 * The stored roles equal a small model in memory: after any sequence of grants, revocations, memberships,
 * nested teams, deletions and moves, a user holds a role on an object exactly if the model says so.
 * `--seed` repeats a run.
 *
 * Budget: 30 s, because each of 2,000 steps, in a deep run 10,000, changes the roles of a random world.
 */
import { GrantsService } from '../../src/access/grants.service.js';
import type { RoleRow } from '../../src/access/roles.repository.js';
import type { Actor } from '../../src/common/access.js';
import { DomainError } from '../../src/common/errors/errors.js';
import { resource, type Row } from '../../src/common/resource/define-resource.js';
import { ResourceService } from '../../src/common/rest/resource.service.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import { RoleModel, type ObjectKey } from '../support/role-model.js';

/** Number of steps. A broken rule shows within some hundred; the deep run finds rare combinations. */
const STEPS = IS_DEEP ? 10_000 : 2_000;
const CHECK_EVERY = 100;
const TYPES = ['organization', 'team', 'inventory', 'project'] as const;
type Type = (typeof TYPES)[number];
const MAX: Record<Type, number> = { organization: 4, team: 8, inventory: 8, project: 6 };

let test: TestApp;
let model: RoleModel;
let random: () => number;
let actor: Actor;
const users: Row[] = [];
const objects = new Map<Type, Row[]>(TYPES.map((type) => [type, []]));
const done: Record<string, number> = {};

beforeAll(async () => {
  test = await boot();
  actor = {
    id: test.as.users.superuser.id,
    username: '',
    isSuperuser: true,
    isSystemAuditor: false,
  };
  model = new RoleModel();
  for (let i = 0; i < 6; i++) users.push(await test.make.user());
});
afterAll(() => test.close());

/** Returns a small, fast and repeatable random generator: mulberry32. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
const key = (type: string, { id }: Row): ObjectKey => `${type}:${id}`;

async function make(type: Type): Promise<void> {
  const rows = objects.get(type)!;
  const organization = pick(objects.get('organization')!);
  if (rows.length >= MAX[type] || (type !== 'organization' && !organization)) return;
  const row = await test.make[type](
    type === 'organization' ? {} : { organization: organization!.id },
  );
  rows.push(row);
  model.add(type, row.id, type === 'organization' ? null : organization!.id);
}

async function destroy(type: Type): Promise<void> {
  const row = pick(objects.get(type)!);
  if (!row || (type === 'organization' && random() < 0.7)) return;
  if (type === 'organization') {
    // A worker deletes inventories later. Here they have to be deleted first.
    const own = objects
      .get('inventory')!
      .filter((one) => model.parentOf('inventory', one.id) === row.id);
    for (const inventory of own) await forget('inventory', inventory);
  }
  await forget(type, row);
}

async function forget(type: Type, row: Row): Promise<void> {
  const { table } = resource(type);
  await test.database.execute({ text: `DELETE FROM ${table} WHERE id = $1`, values: [row.id] });
  for (const [kind, id] of model.remove(type, row.id)) {
    const rows = objects.get(kind as Type)!;
    const index = rows.findIndex((one) => one.id === id);
    if (index >= 0) rows.splice(index, 1);
  }
}

async function move(): Promise<void> {
  const type = pick(['team', 'inventory', 'project'] as const)!;
  const row = pick(objects.get(type)!);
  const organization = pick(objects.get('organization')!);
  if (!row || !organization) return;
  const resources = test.app.get(ResourceService, { strict: false });
  const body = { organization: organization.id };
  await resources.update(resource(type), row, body, actor, { partial: true });
  model.move(type, row.id, organization.id);
}

async function grantOrRevoke(revokes: boolean): Promise<void> {
  const type = pick(TYPES)!;
  const object = pick(objects.get(type)!);
  const field = pick(resource(type).roles)!.field;
  const team = random() < 0.4 ? pick(objects.get('team')!) : undefined;
  const user = pick(users)!;
  if (!object) return;
  const role = (await test.database.row<RoleRow>(sql`
    SELECT * FROM roles WHERE content_type = ${type} AND object_id = ${object.id}
      AND role_field = ${field}`))!;
  const grants = test.app.get(GrantsService, { strict: false });
  const refused = await attempt(() => {
    if (team) {
      return revokes
        ? grants.revokeFromTeam(role, team, actor)
        : grants.grantToTeam(role, team, actor);
    }
    return revokes
      ? grants.revokeFromUser(role, user, actor)
      : grants.grantToUser(role, user, actor);
  });
  const holder = team ? { team: team.id } : { user: user.id };
  const allowed = revokes || !team || model.mayGrant(key(type, object), field, team.id);
  if (refused === allowed)
    throw new Error(`${field} of ${key(type, object)}: refused is ${refused}`);
  if (refused) return;
  if (revokes) model.revoke(key(type, object), field, holder);
  else model.grant(key(type, object), field, holder);
}

/** @returns true if the rules refused the change */
async function attempt(work: () => Promise<void>): Promise<boolean> {
  try {
    await test.database.transaction(work);
    return false;
  } catch (error) {
    if (error instanceof DomainError) return true;
    throw error;
  }
}

async function step(): Promise<void> {
  const choice = random();
  const action =
    choice < 0.45
      ? 'grant'
      : choice < 0.75
        ? 'revoke'
        : choice < 0.87
          ? 'make'
          : choice < 0.94
            ? 'move'
            : 'delete';
  done[action] = (done[action] ?? 0) + 1;
  if (action === 'grant' || action === 'revoke') await grantOrRevoke(action === 'revoke');
  else if (action === 'make') await make(pick(TYPES)!);
  else if (action === 'move') await move();
  else await destroy(pick(TYPES)!);
}

/** Returns every role that one of the users holds according to the database. */
async function stored(): Promise<string[]> {
  const rows = await test.database.rows<{ held: string }>(sql`
    SELECT DISTINCT mem.user_id || ' ' || anc.content_type || ':' || anc.object_id || ' '
      || anc.role_field AS held
    FROM role_members mem JOIN role_ancestors anc ON anc.ancestor_id = mem.role_id
    WHERE mem.user_id = ANY(${users.map(({ id }) => id)}::int[])`);
  return rows.map(({ held }) => held).sort();
}

it(`the API agrees with the model over ${STEPS.toLocaleString('en')} random steps`, async () => {
  const seed = jest.getSeed();
  random = generator(seed);
  for (const type of TYPES) await make(type);
  for (let count = 1; count <= STEPS; count++) {
    await step();
    if (count % CHECK_EVERY === 0) {
      expect({ seed, count, held: await stored() }).toEqual({
        seed,
        count,
        held: model.rolesHeld(users),
      });
    }
  }
  process.stdout.write(`model steps ${JSON.stringify(done)}\n`);
}, 600_000);
