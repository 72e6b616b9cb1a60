import { Module } from '@nestjs/common';
import { JobTemplatesModule } from '../job-templates/job-templates.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { UsersModule } from '../users/users.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { DemoData } from './demo-data.service.js';

@Module({
  imports: [CredentialsModule, JobTemplatesModule, OrganizationsModule, UsersModule],
  providers: [DemoData],
})
export class DemoModule {}
