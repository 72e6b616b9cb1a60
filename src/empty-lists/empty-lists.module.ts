import { Module } from '@nestjs/common';
import {
  ApplicationsController,
  ExecutionEnvironmentsController,
  InventorySourcesController,
  SchedulesController,
  SystemJobTemplatesController,
} from './empty-lists.controllers.js';

@Module({
  controllers: [
    ExecutionEnvironmentsController,
    ApplicationsController,
    InventorySourcesController,
    SchedulesController,
    SystemJobTemplatesController,
  ],
})
export class EmptyListsModule {}
