import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ExecutionEnvironmentsModule } from '../execution-environments/execution-environments.module.js';
import { InventoriesModule } from '../inventories/inventories.module.js';
import { OrganizationHooks } from './organization.hooks.js';
import { OrganizationsController } from './organizations.controller.js';
import { OrganizationsRepository } from './organizations.repository.js';
import {
  Organization,
  OrganizationGalaxyCredential,
  OrganizationNotification,
} from './organization.entity.js';

@Module({
  imports: [
    ExecutionEnvironmentsModule,
    InventoriesModule,
    TypeOrmModule.forFeature([
      Organization,
      OrganizationGalaxyCredential,
      OrganizationNotification,
    ]),
  ],
  controllers: [OrganizationsController],
  providers: [OrganizationHooks, OrganizationsRepository],
  exports: [OrganizationsRepository],
})
export class OrganizationsModule {}
