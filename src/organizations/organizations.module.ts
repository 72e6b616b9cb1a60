import { Module } from '@nestjs/common';
import { OrganizationHooks } from './organization.hooks.js';
import { OrganizationsController } from './organizations.controller.js';
import { OrganizationsRepository } from './organizations.repository.js';

@Module({
  controllers: [OrganizationsController],
  providers: [OrganizationHooks, OrganizationsRepository],
  exports: [OrganizationsRepository],
})
export class OrganizationsModule {}
