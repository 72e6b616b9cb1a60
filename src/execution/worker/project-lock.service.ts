import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { RunEnded } from './active-runs.service.js';

/** Of all users of advisory locks in this database, the folders of projects. */
const LOCK_CLASS = 7402;
const WAIT_MS = 250;

/** One sync of a project at a time, among all workers. */
@Injectable()
export class ProjectLock {
  constructor(private readonly database: Database) {}

  /** @throws RunEnded when the signal comes while it waits */
  async hold<T>(projectId: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return this.database.withClient(async (client) => {
      const lock = [LOCK_CLASS, projectId];
      for (;;) {
        const { rows } = await client.query<{ taken: boolean }>(
          'SELECT pg_try_advisory_lock($1, $2) AS taken',
          lock,
        );
        if (rows[0]?.taken) break;
        if (signal.aborted) throw new RunEnded('Ended while waiting for the project.');
        await sleep(WAIT_MS);
      }
      try {
        return await work();
      } finally {
        // Without its connection the lock is gone anyway.
        await client.query('SELECT pg_advisory_unlock($1, $2)', lock).catch(() => undefined);
      }
    });
  }
}
