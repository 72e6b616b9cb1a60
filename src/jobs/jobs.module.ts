import { Global, Module } from '@nestjs/common';
import { JobHooks } from './job.hooks.js';
import { RunChanges } from './run-changes.js';

@Global()
@Module({ providers: [JobHooks, RunChanges], exports: [RunChanges] })
export class JobsModule {}
