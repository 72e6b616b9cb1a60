import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TemplatesModule } from '../templates/templates.module.js';
import { VariablePrefixes } from '../code-hosts/variables.js';
import { CancelService } from './cancel.service.js';
import { Settings } from '../config/settings.js';
import { AdHocCommandEventsController } from './events/ad-hoc-command-events.controller.js';
import { InventoryUpdateEventsController } from './events/inventory-update-events.controller.js';
import { JobEventsController } from './events/job-events.controller.js';
import { JobHostSummariesController } from './events/job-host-summaries.controller.js';
import { RunHooks } from './run.hooks.js';
import { JobsController, JobOutputController } from './jobs.controller.js';
import { JobEventListController } from './events/job-event-list.controller.js';
import { RunSignalFeed } from './live/run-signal-feed.service.js';
import { RunStreams } from './live/run-streams.service.js';
import { StreamSlots } from './live/stream-slots.service.js';
import { JobContextsRepository } from './job-contexts.repository.js';
import { JobCredentialsRepository } from './job-credentials.repository.js';
import { RunOverviewsRepository } from './run-overviews.repository.js';
import { RunChanges } from './run-changes.service.js';
import { RunSignals } from './run-signals.service.js';
import { StdoutService } from './output/stdout.service.js';
import { RunTransitions } from './run-transitions.service.js';
import { UnifiedJobsController } from './unified-jobs.controller.js';
import { RunsRepository } from './runs.repository.js';
import { RunStatesRepository } from './run-states.repository.js';
import { OldRunsRepository } from './old-runs.repository.js';
import { RunQueueRepository } from './run-queue.repository.js';
import { EventPartitionsRepository } from './events/event-partitions.repository.js';
import { JobEventsRepository } from './events/job-events.repository.js';
import { JobHostSummariesRepository } from './events/job-host-summaries.repository.js';
import { RunOutputsRepository } from './output/run-outputs.repository.js';
import { RunStatisticsRepository } from './run-statistics.repository.js';
import { RunLeasesRepository } from './run-leases.repository.js';
import { JobCredential, JobLabel } from './job.entity.js';
import { JobEvent } from './events/job-event.entity.js';
import { JobHostSummary } from './events/job-host-summary.entity.js';
import { RunTotal } from './run-total.entity.js';
import { UnifiedJob } from './unified-job.entity.js';
import { ShownRuns } from './shown-runs.service.js';
import { TemplateRunExtension } from './template-run.extension.js';
import { JobExtension } from './job.extension.js';

const repositories = [
  RunsRepository,
  RunStatesRepository,
  RunQueueRepository,
  RunLeasesRepository,
  RunOverviewsRepository,
  JobContextsRepository,
  JobCredentialsRepository,
  JobEventsRepository,
  EventPartitionsRepository,
  JobHostSummariesRepository,
  RunOutputsRepository,
  RunStatisticsRepository,
  OldRunsRepository,
];

@Module({
  imports: [
    TypeOrmModule.forFeature([
      JobCredential,
      JobEvent,
      JobHostSummary,
      JobLabel,
      RunTotal,
      UnifiedJob,
    ]),
    TemplatesModule,
  ],
  controllers: [
    JobsController,
    JobOutputController,
    JobEventListController,
    JobEventsController,
    AdHocCommandEventsController,
    InventoryUpdateEventsController,
    JobHostSummariesController,
    UnifiedJobsController,
  ],
  providers: [
    JobExtension,
    ...repositories,
    {
      provide: VariablePrefixes,
      inject: [Settings],
      useFactory: (settings: Settings) => new VariablePrefixes(settings.WEBHOOK_VARIABLE_PREFIXES),
    },
    RunHooks,
    CancelService,
    StdoutService,
    RunSignalFeed,
    RunStreams,
    StreamSlots,
    RunChanges,
    RunSignals,
    RunTransitions,
    ShownRuns,
    TemplateRunExtension,
  ],
  exports: [
    ...repositories,
    VariablePrefixes,
    CancelService,
    StdoutService,
    RunChanges,
    RunSignals,
    RunTransitions,
    RunSignalFeed,
    RunStreams,
    StreamSlots,
    ShownRuns,
    TemplateRunExtension,
  ],
})
export class RunsModule {}
