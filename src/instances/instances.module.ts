import { Module } from '@nestjs/common';
import { InstanceGroupsController } from './instance-groups.controller.js';
import { InstancesController } from './instances.controller.js';

@Module({ controllers: [InstanceGroupsController, InstancesController] })
export class InstancesModule {}
