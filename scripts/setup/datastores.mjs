import { Problem } from '../console/problem.mjs';
import { note, step } from '../console/progress.mjs';
import { databaseAccount } from '../services/account.mjs';
import { startPostgres } from '../services/postgres.mjs';
import { awaitRedis, prepareRedis } from '../services/redis.mjs';

/** @typedef {{ settings: import('./settings.mjs').StartSettings, files: import('./data-folder.mjs').DataFiles,
 *   supervisor: import('../processes/supervise.mjs').Supervisor }} Context
 * @typedef {{ tools: { find(tool: string): string | null },
 *   unprivileged: import('./unprivileged.mjs').Unprivileged | null }} Programs */

/**
 * Starts the private PostgreSQL and Redis, unless the settings contain the URL of a server. Resolves to
 * `{ databaseUrl, redisUrl }`.
 *
 * @param {Context & Programs} context
 */
export async function startDatastores(context) {
  const databaseUrl = context.settings.databaseUrl ?? (await startPrivatePostgres(context));
  const redisUrl = context.settings.redisUrl ?? (await startPrivateRedis(context));
  return { databaseUrl, redisUrl };
}

/** @param {Context} context */
async function startPrivatePostgres({ settings, files, supervisor }) {
  const logFile = files.log('postgres');
  const { url, notes } = await step(
    'PostgreSQL',
    async () => {
      const account = await databaseAccount();
      const home = settings.dataDir;
      const prepared = await startPostgres({ supervisor, home, account, logFile });
      supervisor.keepAlive('postgres');
      return { ...prepared, account };
    },
    ({ url: address, account }) => {
      const suffix = account ? `, as the account ${account.name}` : '';
      return `own server on port ${new URL(address).port}${suffix}`;
    },
  );
  for (const text of notes) note(text);
  return url;
}

/** @param {Context & Programs} context */
async function startPrivateRedis({ settings, files, supervisor, tools, unprivileged }) {
  const logFile = files.log('redis');
  return step(
    'Redis',
    async () => {
      const binary = tools.find('redis-server');
      if (binary === null) throw new Problem('redis-server is not on PATH');
      const home = settings.dataDir;
      const account = unprivileged?.account;
      const { program, url } = await prepareRedis({ home, binary, logFile, account });
      supervisor.start({ ...program, ...unprivileged?.command(program) });
      await awaitRedis({ url, exited: supervisor.exited('redis'), logFile });
      supervisor.keepAlive('redis');
      return url;
    },
    (url) => `own server on port ${new URL(url).port}`,
  );
}
