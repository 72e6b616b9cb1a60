import { Global, Module } from '@nestjs/common';
import { CancelService } from './cancel.service.js';
import { Settings } from '../config/settings.js';
import { JobEventsController, JobHostSummariesController } from './events/job-events.controller.js';
import { RunHooks } from './run.hooks.js';
import { JobsController } from './jobs.controller.js';
import { RunNewsFeed } from './live/run-news-feed.service.js';
import { RunStreams } from './live/run-streams.service.js';
import { StreamSlots } from './live/stream-slots.service.js';
import { RunPanel } from './pages/run-panel.js';
import { RunChanges } from './run-changes.service.js';
import { RunSignals } from './run-signals.service.js';
import { showWebhookVariablesAs } from './shown-variables.js';
import { StdoutService } from './output/stdout.service.js';
import { RunTransitions } from './run-transitions.service.js';
import { UnifiedJobsController } from './unified-jobs.controller.js';

@Global()
@Module({
  controllers: [
    JobsController,
    JobEventsController,
    JobHostSummariesController,
    UnifiedJobsController,
  ],
  providers: [
    RunHooks,
    CancelService,
    StdoutService,
    RunNewsFeed,
    RunStreams,
    StreamSlots,
    RunPanel,
    RunChanges,
    RunSignals,
    RunTransitions,
  ],
  exports: [CancelService, StdoutService, RunChanges, RunSignals, RunTransitions, RunStreams],
})
export class RunsModule {
  constructor(settings: Settings) {
    showWebhookVariablesAs(settings.WEBHOOK_VARIABLE_PREFIXES);
  }
}
