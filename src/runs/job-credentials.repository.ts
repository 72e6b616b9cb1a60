import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { credentialsSeenBy, type SeenCredential } from '../credentials/credentials.repository.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';

/** A credential of a job. */
export interface JobCredential extends SeenCredential {
  job_id: number;
}

/** Returns a query with one row for each job that uses a credential. */
export const jobsWithCredential = (credential: number): Sql =>
  sql`SELECT 1 FROM job_credentials WHERE credential_id = ${credential}`;

/** The credentials of jobs. */
@Injectable()
export class JobCredentialsRepository extends TableRepository {
  constructor(database: Database) {
    super(database, 'job_credentials');
  }

  /**
   * Returns a query for the credentials (`JobCredential`) of some jobs, in the order in which they
   * were assigned.
   */
  ofJobs(jobs: readonly number[], actor: Actor): Sql {
    return sql`
      SELECT lnk.job_id, c.*
      FROM job_credentials lnk JOIN (${credentialsSeenBy(actor)}) c ON c.id = lnk.credential_id
      WHERE lnk.job_id = ANY(${jobs}::bigint[]) ORDER BY lnk.id`;
  }
}
