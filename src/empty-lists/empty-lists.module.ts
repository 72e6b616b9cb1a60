import { Module } from '@nestjs/common';
import {
  ApplicationsController,
  CredentialInputSourcesController,
  ExecutionEnvironmentsController,
  InventorySourcesController,
  SystemJobTemplatesController,
} from './empty-lists.controllers.js';

@Module({
  controllers: [
    ExecutionEnvironmentsController,
    ApplicationsController,
    CredentialInputSourcesController,
    InventorySourcesController,
    SystemJobTemplatesController,
  ],
})
export class EmptyListsModule {}
