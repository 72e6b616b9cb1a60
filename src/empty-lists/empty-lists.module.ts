import { Module } from '@nestjs/common';
import { ApplicationsController, SystemJobTemplatesController } from './empty-lists.controllers.js';

@Module({
  controllers: [ApplicationsController, SystemJobTemplatesController],
})
export class EmptyListsModule {}
