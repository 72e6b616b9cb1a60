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

/** Query for the jobs that use a credential, a row for each. */
export const jobsWithCredential = (credential: number): Sql =>
  sql`SELECT 1 FROM job_credentials WHERE credential_id = ${credential}`;

/** The credentials of jobs. */
@Injectable()
export class JobCredentialsRepository extends TableRepository {
  constructor(database: Database) {
    super(database, 'job_credentials');
  }

  /** Query for the credentials (`JobCredential`) of some jobs in the order in which they were given. */
  ofJobs(jobs: readonly number[], actor: Actor): Sql {
    return sql`
      SELECT lnk.job_id, c.*
      FROM job_credentials lnk JOIN (${credentialsSeenBy(actor)}) c ON c.id = lnk.credential_id
      WHERE lnk.job_id = ANY(${jobs}::bigint[]) ORDER BY lnk.id`;
  }
}
