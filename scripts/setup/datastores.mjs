import { Problem } from '../console/problem.mjs';
import { note, step } from '../console/progress.mjs';
import { databaseAccount } from '../services/account.mjs';
import { startPostgres } from '../services/postgres.mjs';
import { awaitRedis, prepareRedis } from '../services/redis.mjs';

/** @typedef {{ settings: import('./settings.mjs').StartSettings, files: import('./data-folder.mjs').DataFiles,
 *   supervisor: import('../processes/supervise.mjs').Supervisor }} Context */

/**
 * Starts the private PostgreSQL and Redis, or takes the ones the settings name. Resolves to
 * `{ databaseUrl, redisUrl }`.
 *
 * @param {Context & { tools: { find(tool: string): string | null } }} context
 */
export async function startDatastores({ settings, files, supervisor, tools }) {
  const databaseUrl = settings.databaseUrl ?? (await ownPostgres({ settings, files, supervisor }));
  const redisUrl = settings.redisUrl ?? (await ownRedis({ settings, files, supervisor, tools }));
  return { databaseUrl, redisUrl };
}

/** @param {Context} context */
async function ownPostgres({ settings, files, supervisor }) {
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
      const under = account ? `, as the account ${account.name}` : '';
      return `own server on port ${new URL(address).port}${under}`;
    },
  );
  for (const text of notes) note(text);
  return url;
}

/** @param {Context & { tools: { find(tool: string): string | null } }} context */
async function ownRedis({ settings, files, supervisor, tools }) {
  const logFile = files.log('redis');
  return step(
    'Redis',
    async () => {
      const binary = tools.find('redis-server');
      if (binary === null) throw new Problem('redis-server is not on PATH');
      const { program, url } = await prepareRedis({ home: settings.dataDir, binary, logFile });
      supervisor.start(program);
      await awaitRedis({ url, exited: supervisor.exited('redis'), logFile });
      supervisor.keepAlive('redis');
      return url;
    },
    (url) => `own server on port ${new URL(url).port}`,
  );
}
