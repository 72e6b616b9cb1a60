import { Module } from '@nestjs/common';
import {
  ApplicationsController,
  CredentialInputSourcesController,
  ExecutionEnvironmentsController,
  InventorySourcesController,
  SchedulesController,
  SystemJobTemplatesController,
} from './empty-lists.controllers.js';

@Module({
  controllers: [
    ExecutionEnvironmentsController,
    ApplicationsController,
    CredentialInputSourcesController,
    InventorySourcesController,
    SchedulesController,
    SystemJobTemplatesController,
  ],
})
export class EmptyListsModule {}
