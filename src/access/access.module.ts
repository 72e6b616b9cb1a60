import { Global, Module } from '@nestjs/common';
import { RoleStore } from '../common/access.js';
import { GrantsService } from './grants.service.js';
import { RoleGraph } from './role-graph.js';
import { RolesController } from './roles.controller.js';
import './tables.js';

@Global()
@Module({
  controllers: [RolesController],
  providers: [RoleGraph, { provide: RoleStore, useExisting: RoleGraph }, GrantsService],
  exports: [RoleStore, RoleGraph, GrantsService],
})
export class AccessModule {}
