import { Global, Module } from '@nestjs/common';
import { JobHooks } from './job.hooks.js';
import { RunChanges } from './run-changes.js';
import { RunSignals } from './run-signals.js';
import { RunTransitions } from './transitions.js';

@Global()
@Module({
  providers: [JobHooks, RunChanges, RunSignals, RunTransitions],
  exports: [RunChanges, RunSignals, RunTransitions],
})
export class JobsModule {}
