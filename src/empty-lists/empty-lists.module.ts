import { Module } from '@nestjs/common';
import {
  ApplicationsController,
  ExecutionEnvironmentsController,
  InventorySourcesController,
  SystemJobTemplatesController,
} from './empty-lists.controllers.js';

@Module({
  controllers: [
    ExecutionEnvironmentsController,
    ApplicationsController,
    InventorySourcesController,
    SystemJobTemplatesController,
  ],
})
export class EmptyListsModule {}
