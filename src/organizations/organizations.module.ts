import { Global, Module } from '@nestjs/common';
import { OrganizationStore } from '../inventories/organization-store.js';
import { OrganizationNotifications } from '../notifications/attached-templates.js';
import { OrganizationHooks } from './organization.hooks.js';
import { OrganizationsController } from './organizations.controller.js';
import { OrganizationsRepository } from './organizations.repository.js';

@Global()
@Module({
  controllers: [OrganizationsController],
  providers: [
    OrganizationHooks,
    OrganizationsRepository,
    { provide: OrganizationStore, useExisting: OrganizationsRepository },
    { provide: OrganizationNotifications, useExisting: OrganizationsRepository },
  ],
  exports: [OrganizationsRepository, OrganizationStore, OrganizationNotifications],
})
export class OrganizationsModule {}
