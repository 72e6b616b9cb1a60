import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { ExecutionEnvironmentHooks } from './execution-environment.hooks.js';
import {
  ExecutionEnvironmentCopyController,
  ExecutionEnvironmentsController,
} from './execution-environments.controller.js';
import { ExecutionEnvironmentsRepository } from './execution-environments.repository.js';
import { ExecutionEnvironment } from './execution-environment.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([ExecutionEnvironment]), CredentialsModule],
  controllers: [ExecutionEnvironmentsController, ExecutionEnvironmentCopyController],
  providers: [ExecutionEnvironmentsRepository, ExecutionEnvironmentHooks],
  exports: [ExecutionEnvironmentsRepository, ExecutionEnvironmentHooks],
})
export class ExecutionEnvironmentsModule {}
