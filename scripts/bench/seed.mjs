import { join } from 'node:path';

import { startServer } from './servers.mjs';
import { caller, withDatabase } from './world.mjs';

/** An ordinary user who may read an inventory of `rows` hosts, and a token of that user. */
export async function seedHosts({ root, environment, cli, admin }, rows) {
  const server = await startServer(join(root, 'dist/src/main.js'), environment);
  const inventory = await makeObjects(caller(server.url, admin));
  await server.stop();
  await makeHosts(environment.DATABASE_URL, inventory, rows);
  return (await cli('create-token', '--username', 'reader')).trim();
}

async function makeObjects(call) {
  const organization = await call('POST', 'organizations/', { name: 'Bench' });
  const inventory = await call('POST', 'inventories/', {
    name: 'Big',
    organization: organization.id,
  });
  const reader = await call('POST', 'users/', { username: 'reader', password: 'reader' });
  const role = inventory.summary_fields.object_roles.read_role.id;
  await call('POST', `roles/${role}/users/`, { id: reader.id });
  return inventory.id;
}

/** Hosts straight into the table. */
export function makeHosts(url, inventory, rows) {
  return withDatabase(url, async (client) => {
    await client.query(
      `INSERT INTO hosts (name, inventory_id, variables)
       SELECT 'host-' || lpad(number::text, 7, '0'), $1, 'rack: ' || number % 40
       FROM generate_series(1, $2) AS number`,
      [inventory, rows],
    );
    await client.query('VACUUM ANALYZE');
  });
}
