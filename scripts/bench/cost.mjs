import { readdir, readFile } from 'node:fs/promises';

import { withDatabase } from './world.mjs';

/** Length of a tick of the kernel's clock: a hundredth of a second on every Linux. */
const TICK_MS = 10;

/**
 * Returns the processor time of a server and of all processes of PostgreSQL, as the kernel counts it.
 *
 * @param {import('./types.d.mts').RunningServer} server
 * @param {number} postmaster process id
 */
export async function costOf(server, postmaster) {
  return {
    api: (await timesOf(server.pid)).own,
    postgres: await timeOfPostgres(postmaster),
    statements: await server.statements(),
  };
}

/**
 * Returns the parent process of all processes of PostgreSQL.
 *
 * @param {string} url of a database on this machine
 */
export function postmasterOf(url) {
  return withDatabase(url, async (client) => {
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    return (await timesOf(rows[0].pid)).parent;
  });
}

/** @param {number} postmaster */
async function timeOfPostgres(postmaster) {
  // The parent counts the time of children that have ended.
  let { own: sum, ended } = await timesOf(postmaster);
  sum += ended;
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const times = await Promise.all(names.map((name) => timesOf(Number(name)).catch(() => null)));
  for (const time of times) if (time?.parent === postmaster) sum += time.own;
  return sum;
}

/**
 * @param {number} pid
 * @returns {Promise<{ parent: number, own: number, ended: number }>} times in milliseconds of the process, and of
 *   its children that have ended
 */
async function timesOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name before the fields may contain blanks and parentheses.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0, user = 0, system = 0, childUser = 0, childSystem = 0] = [
    1, 11, 12, 13, 14,
  ].map((index) => fields[index]);
  return {
    parent,
    own: (user + system) * TICK_MS,
    ended: (childUser + childSystem) * TICK_MS,
  };
}
