import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LabelsController } from './labels.controller.js';
import { LabelsRepository } from './labels.repository.js';
import { Label } from './label.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([Label])],
  controllers: [LabelsController],
  providers: [LabelsRepository],
  exports: [LabelsRepository],
})
export class LabelsModule {}
