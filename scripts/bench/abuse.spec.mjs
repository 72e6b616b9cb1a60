/**
 * Budget: 30 s, because it sends every kind of abuse to a server while it measures the event loop.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { send } from './abuse.mjs';
import { abuses, createVictims, yaml } from './abuse-requests.mjs';
import { startServer } from './servers.mjs';
import { caller, createWorld } from './world.mjs';

const root = join(import.meta.dirname, '..', '..');
const MEGABYTE = 1024 * 1024;
/** Limit on the growth of caches. The most expensive requests used to hold some hundred megabytes. */
const MAY_STAY = 24 * MEGABYTE;
/** Timeout for work after a response, timers and connections. It limits no speed. */
const TIMEOUT_MS = 60_000;
/**
 * Processor time on an idle machine: time spent waiting for the processor does not count. 100 ms are promised, the
 * most expensive request takes 40, and 64 KB of YAML parsed on the main thread would take 80.
 */
const MAX_MS = 60;
/** YAML that the main thread of an idle machine parses in `MAX_MS`. On a slower machine, its time is the limit. */
const YARDSTICK = yaml(28_000);
/** Number of attempts, as other processes may evict the caches of the processor. */
const TRIES = 5;
/** Number of parses after which V8 has compiled the parser. */
const WARM_UPS = 5;

/** The most expensive requests leave memory and the event loop of the API to others. */
describe('the API', () => {
  /** @type {Awaited<ReturnType<typeof startServer>>} */
  let server;
  /** @type {ReturnType<typeof abuses>} */
  let requests;

  beforeAll(async () => {
    const world = await createWorld({ root, environment: process.env, name: 'abuse' });
    const program = join(root, 'dist', 'main.js');
    server = await startServer(program, world.environment, ['--expose-gc']);
    requests = abuses(await createVictims(world, caller(server.url, world.admin)));
    // Code that is compiled, prepared or opened for the first time takes longer, and stays in memory.
    for (const one of requests) await send(server.url, one);
    for (let count = 0; count < WARM_UPS; count++) await server.yamlTime(YARDSTICK);
  }, 300_000);
  afterAll(() => server.stop());

  it('limits the memory and delay that the most expensive requests cause', async () => {
    const before = await server.memory();
    const faults = [];
    for (const one of requests) {
      let excess = Infinity;
      for (let tries = 0; tries < TRIES && excess > 0; tries++) {
        const { longestTurn } = await server.longestTurn(() => send(server.url, one));
        const yardstick = longestTurn > MAX_MS ? await server.yamlTime(YARDSTICK) : 0;
        excess = Math.min(excess, longestTurn - Math.max(MAX_MS, yardstick));
      }
      if (excess > 0) faults.push(`${one.name}: ${Math.round(excess)} ms above the limit`);
      const end = Date.now() + TIMEOUT_MS;
      let more = (await server.memory()) - before;
      while (more > MAY_STAY && Date.now() < end) {
        await pause(250);
        more = (await server.memory()) - before;
      }
      if (more > MAY_STAY) faults.push(`${one.name}: ${Math.round(more / MEGABYTE)} MB`);
    }
    expect(faults).toEqual([]);
  }, 600_000);
});
