import { Module } from '@nestjs/common';
import { LabelsController } from './labels.controller.js';
import { LabelsRepository } from './labels.repository.js';

@Module({
  controllers: [LabelsController],
  providers: [LabelsRepository],
  exports: [LabelsRepository],
})
export class LabelsModule {}
