import { Module } from '@nestjs/common';
import { OrganizationHooks } from './organization.hooks.js';
import { OrganizationsController } from './organizations.controller.js';

@Module({ controllers: [OrganizationsController], providers: [OrganizationHooks] })
export class OrganizationsModule {}
