import { Module } from '@nestjs/common';
import {
  ApplicationsController,
  CredentialInputSourcesController,
  ExecutionEnvironmentsController,
  SystemJobTemplatesController,
} from './empty-lists.controllers.js';

@Module({
  controllers: [
    ExecutionEnvironmentsController,
    ApplicationsController,
    CredentialInputSourcesController,
    SystemJobTemplatesController,
  ],
})
export class EmptyListsModule {}
