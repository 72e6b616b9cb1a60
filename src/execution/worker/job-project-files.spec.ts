import type { ProjectSync } from '../project-updates/project-sync.service.js';
import { ActiveRun } from './active-runs.service.js';
import { JobProjectFiles, type FilesRequest } from './job-project-files.service.js';
import type { RunOutcome } from './outcome.js';

/** Provides the files of a job whose project was never synced, and returns the stored outcome of the sync. */
async function provide(sync: Pick<ProjectSync, 'run'>): Promise<{
  provided: Promise<unknown>;
  stored: RunOutcome[];
}> {
  const stored: RunOutcome[] = [];
  const parts: Record<string, object> = {
    database: { transaction: (work: () => unknown) => work() },
    updates: { launch: async () => [{ id: 8 }] },
    runs: { nameOf: async () => 'Demo' },
    runLeases: { storeProjectUpdate: async () => undefined },
    folders: { path: (name: string) => `/nowhere/${name}` },
    sync,
    leases: {
      lease: async () => 1,
      finish: async (_run: ActiveRun, end: RunOutcome) => stored.push(end),
    },
    active: {
      add: (id: number, attempt: number) => new ActiveRun(id, attempt),
      remove: () => undefined,
    },
  };
  const files = Object.assign(Object.create(JobProjectFiles.prototype), parts) as JobProjectFiles;
  const project = { id: 1, scm_type: 'git', scm_revision: '', local_path: '_1__demo' };
  const request = { project, onOutput: () => undefined } as unknown as FilesRequest;
  return { provided: files.provide(new ActiveRun(7, 1), request), stored };
}

it('a job starts again if its sync ended because of an outage of the database', async () => {
  const outage = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
  const { provided, stored } = await provide({ run: () => Promise.reject(outage) });
  await expect(provided).rejects.toBe(outage);
  expect(stored).toMatchObject([{ status: 'error' }]);
});

it('a job whose sync failed fails, too', async () => {
  const { provided } = await provide({ run: async () => ({ status: 'failed' }) });
  await expect(provided).rejects.toMatchObject({
    name: 'CannotStart',
    message: expect.stringContaining('Previous Task Failed'),
  });
});
