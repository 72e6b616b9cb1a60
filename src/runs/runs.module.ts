import { Global, Module } from '@nestjs/common';
import { CancelService } from './cancel.service.js';
import { Settings } from '../config/settings.js';
import { ProjectSyncs } from '../projects/project-syncs.js';
import {
  JobEventsController,
  JobHostSummariesController,
  RunEventsController,
} from './events/job-events.controller.js';
import { RunHooks } from './run.hooks.js';
import { JobsController } from './jobs.controller.js';
import { LiveController } from './live/live.controller.js';
import { RunNewsFeed } from './live/run-news-feed.js';
import { RunStreams } from './live/run-streams.js';
import { StreamSlots } from './live/stream-slots.js';
import { LaunchPanel } from '../launching/pages/launch-panel.js';
import { RunPanel } from './pages/run-panel.js';
import { LaunchLoader } from '../launching/launch-loader.js';
import { ProjectUpdateLaunches } from '../launching/launch-project-updates.js';
import { LaunchRows } from '../launching/launch-rows.js';
import { LaunchController } from '../launching/launch.controller.js';
import { LaunchService } from '../launching/launch.service.js';
import { RelaunchController } from '../launching/relaunch.controller.js';
import { RelaunchService } from '../launching/relaunch.js';
import { RunChanges } from './run-changes.js';
import { RunSignals } from './run-signals.js';
import { showWebhookVariablesAs } from './shown-variables.js';
import { StdoutController } from './output/stdout.controller.js';
import { StdoutService } from './output/stdout.service.js';
import { RunTransitions } from './transitions.js';
import { UnifiedJobsController } from './unified-jobs.controller.js';

@Global()
@Module({
  controllers: [
    JobsController,
    LaunchController,
    RelaunchController,
    StdoutController,
    LiveController,
    RunEventsController,
    JobEventsController,
    JobHostSummariesController,
    UnifiedJobsController,
  ],
  providers: [
    RunHooks,
    LaunchLoader,
    LaunchRows,
    LaunchService,
    RelaunchService,
    { provide: ProjectSyncs, useClass: ProjectUpdateLaunches },
    CancelService,
    StdoutService,
    RunNewsFeed,
    RunStreams,
    StreamSlots,
    RunPanel,
    LaunchPanel,
    RunChanges,
    RunSignals,
    RunTransitions,
  ],
  exports: [
    LaunchLoader,
    LaunchService,
    RelaunchService,
    ProjectSyncs,
    CancelService,
    StdoutService,
    RunChanges,
    RunSignals,
    RunTransitions,
    RunStreams,
  ],
})
export class JobsModule {
  constructor(settings: Settings) {
    showWebhookVariablesAs(settings.WEBHOOK_VARIABLE_PREFIXES);
  }
}
