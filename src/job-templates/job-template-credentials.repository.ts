import { Injectable } from '@nestjs/common';
import type { CredentialUses } from '../credentials/credential-uses.js';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { jobsWithCredential } from '../runs/job-credentials.repository.js';
import { templatesWithCredential } from '../templates/templates.repository.js';
import { JobTemplateCredential } from './job-template.entity.js';

/** The credentials of job templates. */
@Injectable()
export class JobTemplateCredentialsRepository
  extends TableRepository<JobTemplateCredential>
  implements CredentialUses
{
  constructor(
    @InjectRepository(JobTemplateCredential) repository: Repository<JobTemplateCredential>,
  ) {
    super(repository);
  }

  async attach(template: number, credential: number): Promise<void> {
    await this.insert({ job_template_id: template, credential_id: credential });
  }

  /**
   * Returns true if a credential is used by a job template or a job, or as the credential field of
   * any template.
   */
  async isUsed(credential: number): Promise<boolean> {
    const found = await this.database.row(sql`
      SELECT 1 FROM job_template_credentials WHERE credential_id = ${credential}
      UNION ALL ${jobsWithCredential(credential)}
      UNION ALL ${templatesWithCredential(credential)}
      LIMIT 1`);
    return found !== undefined;
  }
}
