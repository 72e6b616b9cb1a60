import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { GroupMembers } from './group-members.service.js';
import { InstanceHooks } from './instance.hooks.js';
import { InstanceGroupHooks } from './instance-group.hooks.js';
import { InstanceGroupsController } from './instance-groups.controller.js';
import { InstancesController } from './instances.controller.js';
import { InstancesRepository } from './instances.repository.js';
import { WorkerNodesRepository } from './worker-nodes.repository.js';
import { InstanceGroupsRepository } from './instance-groups.repository.js';
import { InstanceGroup, InstanceGroupInstance } from './instance-group.entity.js';
import { Instance } from './instance.entity.js';
import {
  InventoryInstanceGroup,
  JobTemplateInstanceGroup,
  OrganizationInstanceGroup,
} from './preferred-group.entity.js';
import { WorkerNode } from './worker-node.entity.js';
import { InstanceGroupExtension, InstanceExtension } from './instance.extensions.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      Instance,
      InstanceGroup,
      InstanceGroupInstance,
      InventoryInstanceGroup,
      JobTemplateInstanceGroup,
      OrganizationInstanceGroup,
      WorkerNode,
    ]),
  ],
  controllers: [InstanceGroupsController, InstancesController],
  providers: [
    InstanceGroupExtension,
    InstanceExtension,
    InstanceGroupsRepository,
    InstancesRepository,
    WorkerNodesRepository,
    InstanceGroupHooks,
    InstanceHooks,
    GroupMembers,
  ],
  exports: [GroupMembers, InstanceGroupsRepository, InstancesRepository, WorkerNodesRepository],
})
export class InstancesModule {}
