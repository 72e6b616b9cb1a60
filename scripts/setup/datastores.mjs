import { note, step } from '../console/progress.mjs';
import { databaseAccount } from '../services/account.mjs';
import { startPostgres } from '../services/postgres.mjs';
import { awaitRedis, prepareRedis } from '../services/redis.mjs';

/**
 * Starts the private PostgreSQL and Redis, or takes the ones the settings name. Resolves to
 * `{ databaseUrl, redisUrl }`.
 */
export async function startDatastores({ settings, files, supervisor, tools }) {
  const databaseUrl = settings.databaseUrl ?? (await ownPostgres({ settings, files, supervisor }));
  const redisUrl = settings.redisUrl ?? (await ownRedis({ settings, files, supervisor, tools }));
  return { databaseUrl, redisUrl };
}

async function ownPostgres({ settings, files, supervisor }) {
  const logFile = files.log('postgres');
  const notes = [];
  let url;
  await step('PostgreSQL', async () => {
    const account = await databaseAccount();
    const home = settings.dataDir;
    const prepared = await startPostgres({ supervisor, home, account, logFile });
    notes.push(...prepared.notes);
    supervisor.keepAlive('postgres');
    url = prepared.url;
    const under = account ? `, as the account ${account.name}` : '';
    return `own server on port ${new URL(url).port}${under}`;
  });
  for (const text of notes) note(text);
  return url;
}

async function ownRedis({ settings, files, supervisor, tools }) {
  const logFile = files.log('redis');
  let url;
  await step('Redis', async () => {
    const binary = tools.find('redis-server');
    const prepared = await prepareRedis({ home: settings.dataDir, binary, logFile });
    supervisor.start(prepared.program);
    await awaitRedis({ url: prepared.url, exited: supervisor.exited('redis'), logFile });
    supervisor.keepAlive('redis');
    url = prepared.url;
    return `own server on port ${new URL(url).port}`;
  });
  return url;
}
