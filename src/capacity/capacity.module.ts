import { Module } from '@nestjs/common';
import { InstanceGroupsController } from './instance-groups.controller.js';

@Module({ controllers: [InstanceGroupsController] })
export class CapacityModule {}
