import { Injectable } from '@nestjs/common';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { JobTemplateCredential } from './job-template.entity.js';

@Injectable()
export class JobTemplateCredentialsRepository extends TableRepository<JobTemplateCredential> {
  constructor(
    @InjectRepository(JobTemplateCredential) repository: Repository<JobTemplateCredential>,
  ) {
    super(repository);
  }

  async attach(template: number, credential: number): Promise<void> {
    await this.insert({ job_template_id: template, credential_id: credential });
  }
}
