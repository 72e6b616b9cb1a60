import { Module } from '@nestjs/common';
import {
  ApplicationsController,
  ExecutionEnvironmentsController,
  SystemJobTemplatesController,
} from './empty-lists.controllers.js';

@Module({
  controllers: [
    ExecutionEnvironmentsController,
    ApplicationsController,
    SystemJobTemplatesController,
  ],
})
export class EmptyListsModule {}
