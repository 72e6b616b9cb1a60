import { Module } from '@nestjs/common';
import { InstanceGroupsController } from './instance-groups.controller.js';
import { InstancesController } from './instances.controller.js';
import { InstancesRepository } from './instances.repository.js';
import { WorkerNodesRepository } from './worker-nodes.repository.js';

@Module({
  controllers: [InstanceGroupsController, InstancesController],
  providers: [InstancesRepository, WorkerNodesRepository],
  exports: [InstancesRepository, WorkerNodesRepository],
})
export class InstancesModule {}
