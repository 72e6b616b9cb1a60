import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Agent, request } from 'undici';

import { percentiles } from './load.mjs';
import { commitAll } from './repository.mjs';
import { startWorker } from './servers.mjs';
import { until } from './until.mjs';
import { caller } from './world.mjs';

const USERS = 80;
/** Name that selects only these measurements. */
export const BURSTS = 'users at once';
export const PRINTING = 'a program that prints';
/** Limit on the average waiting time of other callers, relative to the time without a burst. */
const MAX_RATIO = 1.5;
const WINDOW_MS = 8000;
const PRINTED_BYTES = 700_000_000;

/**
 * Sends many concurrent requests that need the hash of a password, and measures how long other callers wait.
 *
 * @param {string} url
 * @param {Record<'admin' | 'nobody' | 'other', string>} tokens
 */
export async function measureBursts(url, { admin, nobody, other }) {
  console.log(
    `\nAbuse: ${USERS} users created at once, and how long other callers wait for a list\n`,
  );
  const results = [];
  for (const [who, token, status] of /** @type {const} */ ([
    ['an account without roles', nobody, 403],
    ['a superuser', admin, 201],
  ])) {
    const rest = await waitsDuring(url, other, () => Promise.resolve());
    const burst = await waitsDuring(url, other, () => createUsers(url, token, status));
    // The load of the machine may have changed during the burst.
    const after = await waitsDuring(url, other, () => Promise.resolve());
    const ratio = (2 * burst.mean) / (rest.mean + after.mean);
    const verdict = ratio <= MAX_RATIO ? 'met' : `MISSED (${MAX_RATIO} times)`;
    console.log(
      `${who.padEnd(26)} all returned ${status} in ${burst.seconds.toFixed(1)} s, other callers wait ` +
        `${rest.mean.toFixed(1)} -> ${burst.mean.toFixed(1)} -> ${after.mean.toFixed(1)} ms (p95 ${rest.p95?.toFixed(1)} -> ` +
        `${burst.p95?.toFixed(1)} ms): ${ratio.toFixed(2)} times, ${verdict}`,
    );
    results.push({ name: `${USERS} users by ${who}`, rest, burst, ratio });
  }
  return results;
}

/** @param {string} url @param {string} token @param {number} status */
async function createUsers(url, token, status) {
  const dispatcher = new Agent({ connections: USERS });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const create = async () => {
    const user = { username: randomUUID(), password: randomUUID() };
    const response = await request(`${url}/api/v2/users/`, {
      dispatcher,
      headers,
      method: 'POST',
      body: JSON.stringify(user),
    });
    await response.body.dump();
    if (response.statusCode !== status) {
      throw new Error(`POST users/ returned ${response.statusCode}, not ${status}.`);
    }
  };
  await Promise.all(Array.from({ length: USERS }, create));
  await dispatcher.close();
}

/**
 * Measures the waiting times of a caller who sends sequential requests during `work`, and for some seconds at
 * least.
 *
 * @param {string} url
 * @param {string} token
 * @param {() => Promise<unknown>} work
 */
async function waitsDuring(url, token, work) {
  const dispatcher = new Agent({ connections: 1 });
  const headers = { authorization: `Bearer ${token}` };
  /** @type {number[]} */
  const waits = [];
  let hasEnded = false;
  const requests = (async () => {
    while (!hasEnded) {
      const started = performance.now();
      const { body } = await request(`${url}/api/v2/organizations/`, { dispatcher, headers });
      await body.dump();
      waits.push(performance.now() - started);
      await sleep(5);
    }
  })();
  const started = performance.now();
  const window = sleep(WINDOW_MS);
  await work();
  const seconds = (performance.now() - started) / 1000;
  await window;
  hasEnded = true;
  await requests;
  await dispatcher.close();
  const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
  return { ...percentiles(waits), mean, seconds };
}

/**
 * Runs an inventory plugin that prints 700 MB next to a job: only its update may fail.
 *
 * @param {import('./types.d.mts').World} world
 * @param {string} url
 * @param {{ template: number, inventory: number, folder: string }} victims `folder` may contain repositories
 */
export async function measurePrinting(world, url, { template, inventory, folder }) {
  const { root, admin } = world;
  const call = caller(url, admin);
  const origin = await createOrigin(folder);
  const worker = startWorker(root, world.environment);
  const ended = async (/** @type {string} */ path) => {
    await until(async () => (await call('GET', path)).finished !== null, 50);
    return call('GET', path);
  };
  try {
    const { organization } = await call('GET', `inventories/${inventory}/`);
    const project = await call('POST', 'projects/', {
      name: 'loud',
      organization,
      scm_type: 'git',
      scm_url: `file://${origin}`,
    });
    await until(async () => (await call('GET', `projects/${project.id}/`)).scm_revision !== '');
    const source = await call('POST', 'inventory_sources/', {
      name: 'loud',
      inventory,
      source: 'scm',
      source_project: project.id,
      source_path: 'loud.yml',
    });
    const { inventory_update: update } = await call(
      ...['POST', `inventory_sources/${source.id}/update/`],
      {},
    );
    const { job } = await call('POST', `job_templates/${template}/launch/`, {});
    const printed = await ended(`inventory_updates/${update}/`);
    const beside = await ended(`jobs/${job}/`);
    const isAlive = worker.isAlive();
    const isMet = isAlive && printed.status === 'failed' && beside.status === 'successful';
    console.log(
      `\nAbuse: a program that prints ${PRINTED_BYTES / 1e6} MB: its update is ${printed.status} ` +
        `(${printed.job_explanation}), a job beside it ${beside.status}, ` +
        `the worker ${isAlive ? 'continues' : 'has ended'}: ${isMet ? 'met' : 'MISSED'}`,
    );
    return {
      name: PRINTING,
      status: printed.status,
      beside: beside.status,
      isAlive,
    };
  } finally {
    await worker.stop();
  }
}

const PLUGIN = `
DOCUMENTATION = '''
name: loud
short_description: Prints without end
options:
  plugin: {description: Its name, required: true}
'''
import os
from ansible.plugins.inventory import BaseInventoryPlugin

class InventoryModule(BaseInventoryPlugin):
    NAME = 'loud'

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        for _ in range(${PRINTED_BYTES / 1_000_000}):
            os.write(2, b'x' * 1_000_000)
`;
const CONFIGURATION = `
[defaults]
inventory_plugins = plugins
[inventory]
enable_plugins = loud
`;

/** Creates a repository with the plugin. @param {string} folder */
async function createOrigin(folder) {
  const origin = join(folder, 'loud');
  await mkdir(join(origin, 'plugins'), { recursive: true });
  await writeFile(join(origin, 'plugins/loud.py'), PLUGIN);
  await writeFile(join(origin, 'ansible.cfg'), CONFIGURATION);
  await writeFile(join(origin, 'loud.yml'), 'plugin: loud\n');
  commitAll(origin);
  return origin;
}
