import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { setEnvironment, startInProcess } from './in-process.mjs';
import { report } from './report.mjs';
import { caller, createWorld } from './world.mjs';

/** Number of turns by number of hosts, enough for a readable figure. */
const SIZES = [
  { hosts: 10_000, turns: 5 },
  { hosts: 100_000, turns: 3 },
];
const GROUPS = 20;
const SETTINGS = {
  BULK_BODY_LIMIT: String(64 * 1024 * 1024),
  BULK_HOST_MAX_CREATE: '100000',
};

/**
 * Compares storing one inventory update, from the document of Ansible to the commit, with one bulk creation
 * of as many hosts with the same variables. The update has more work: groups, memberships, and a record of
 * the source's hosts. A second update stores the same document again.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchInventory({ root, environment, only }) {
  const name = 'bench_inventory';
  const world = await createWorld({ root, environment, name, settings: SETTINGS });
  const restore = setEnvironment(world.environment);
  const server = await startInProcess(root);
  try {
    const call = caller(await server.getUrl(), world.admin);
    const { id: organization } = await call('POST', 'organizations/', { name: 'Bench' });
    const importDocument = await importerOf(root, server);
    let counter = 0;
    const inventory = async () => {
      const fields = { name: `Bench ${(counter += 1)}`, organization };
      return (await call('POST', 'inventories/', fields)).id;
    };
    const results = [];
    for (const { hosts, turns } of SIZES) {
      /** @type {Record<"created" | "first" | "again", number[]>} */
      const times = { created: [], first: [], again: [] };
      for (let turn = 0; turn < turns; turn += 1) {
        const body = bulkOf(await inventory(), hosts);
        times.created.push(await timeOf(() => call('POST', 'bulk/host_create/', body)));
        const imported = await inventory();
        const source = await call('POST', `inventories/${imported}/inventory_sources/`, {
          name: 'Bench',
          source: 'ec2',
        });
        const target = { sourceId: source.id, inventoryId: imported };
        times.first.push(await timeOf(() => importDocument(target, documentOf(hosts))));
        times.again.push(await timeOf(() => importDocument(target, documentOf(hosts))));
      }
      const limit = rateOf(hosts, times.created);
      const size = hosts.toLocaleString('en');
      const budget = { ratio: 0.5 };
      results.push(
        { name: `${size} hosts`, product: rateOf(hosts, times.first), limit, budget },
        { name: `${size} again`, product: rateOf(hosts, times.again), limit, budget },
      );
    }
    return report(
      'Hosts stored by an inventory update and by bulk creation',
      results.filter((one) => one.name.includes(only)),
    );
  } finally {
    await server.close();
    restore();
  }
}

/**
 * Returns a function that stores a document as a worker does.
 *
 * @param {string} root
 * @param {import('@nestjs/common').INestApplication} server
 */
async function importerOf(root, server) {
  const load = (/** @type {string} */ path) =>
    import(pathToFileURL(join(root, 'dist/src', path)).href);
  const { Database } = await load('database/database.js');
  const { InventoryImport } = await load('inventories/import/inventory-import.service.js');
  const { readDelivery } = await load('inventories/import/delivery-reader.js');
  const database = server.get(Database);
  const imports = server.get(InventoryImport, { strict: false });
  const rules = { enabled: null, instanceId: ['instance_id'] };
  const options = { overwrite: true, overwriteVars: false, hasInstanceIds: true };
  const context = { report: () => undefined, checkpoint: () => undefined };
  return async (/** @type {object} */ target, /** @type {object} */ document) => {
    const delivery = await readDelivery(document, rules);
    await database.transaction(() => imports.store(target, delivery, options, context));
  };
}

/** @param {number} index */
const variablesOf = (index) => ({ instance_id: `i-${index}`, rack: index % 40, ansible_port: 22 });

/**
 * @param {number} inventory
 * @param {number} hosts
 */
const bulkOf = (inventory, hosts) => ({
  inventory,
  hosts: Array.from({ length: hosts }, (_none, index) => ({
    name: `host-${index}`,
    variables: JSON.stringify(variablesOf(index)),
  })),
});

/** Returns the output of `ansible-inventory --list`. @param {number} hosts */
function documentOf(hosts) {
  const names = Array.from({ length: hosts }, (_none, index) => `host-${index}`);
  const groups = Array.from({ length: GROUPS }, (_none, group) => [
    `group_${group}`,
    { hosts: names.filter((_name, index) => index % GROUPS === group) },
  ]);
  const hostvars = names.map((name, index) => [name, variablesOf(index)]);
  return { ...Object.fromEntries(groups), _meta: { hostvars: Object.fromEntries(hostvars) } };
}

/** Returns the duration of `work` in milliseconds. @param {() => Promise<unknown>} work */
async function timeOf(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/**
 * Returns hosts per second, by the median turn.
 *
 * @param {number} hosts
 * @param {readonly number[]} times
 */
function rateOf(hosts, times) {
  const sorted = times.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return { perSecond: (hosts / middle) * 1000, p50: middle };
}
