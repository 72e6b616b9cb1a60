import { Module } from '@nestjs/common';
import { ExecutionEnvironmentHooks } from './execution-environment.hooks.js';
import { ExecutionEnvironmentsController } from './execution-environments.controller.js';
import { ExecutionEnvironmentsRepository } from './execution-environments.repository.js';

@Module({
  controllers: [ExecutionEnvironmentsController],
  providers: [ExecutionEnvironmentsRepository, ExecutionEnvironmentHooks],
})
export class ExecutionEnvironmentsModule {}
