import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import {
  visibleCredentials,
  type VisibleCredential,
} from '../credentials/credentials.repository.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { JobCredential } from './job.entity.js';

export interface CredentialOfJob extends VisibleCredential {
  job_id: number;
}

@Injectable()
export class JobCredentialsRepository extends TableRepository<JobCredential> {
  constructor(@InjectRepository(JobCredential) repository: Repository<JobCredential>) {
    super(repository);
  }

  /**
   * Returns a query for the credentials (`CredentialOfJob`) of some jobs, in the order in which they
   * were assigned.
   */
  ofJobs(jobs: readonly number[], actor: Actor): Sql {
    return sql`
      SELECT lnk.job_id, c.*
      FROM job_credentials lnk JOIN (${visibleCredentials(actor)}) c ON c.id = lnk.credential_id
      WHERE lnk.job_id = ANY(${jobs}::bigint[]) ORDER BY lnk.id`;
  }
}
