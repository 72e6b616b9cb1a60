import { Module } from '@nestjs/common';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { InventoriesModule } from '../inventories/inventories.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { Boundary } from './boundary/boundary.service.js';
import { Dependencies } from './scheduler/dependencies.js';
import { Placement } from './scheduler/placement.js';
import { Scheduler } from './scheduler/scheduler.js';
import { ActiveRuns } from './worker/active-runs.js';
import { EventStore } from './worker/event-store.js';
import { JobCredentials } from './worker/job-credentials.js';
import { JobProjectFiles } from './worker/job-project.js';
import { Leases } from './worker/leases.js';
import { PlaybookJob } from './worker/playbook-job.js';
import { ProjectLock } from './worker/project-lock.js';
import { ProjectSync } from './worker/project-sync.js';
import { Recovery } from './worker/recovery.js';
import { RunFolders } from './worker/run-folders.js';
import { RunsHandler } from './worker/runs.handler.js';
import { runsProcessorProvider } from './worker/runs.processor.js';
import { Subscriber } from './worker/subscriber.js';
import { WorkerNode } from './worker/worker-node.js';

/** Scheduler, runner and clean-up: what only the worker process does with runs. */
@Module({
  imports: [CredentialsModule, InventoriesModule, ProjectsModule],
  providers: [
    ...[Boundary, Subscriber, RunFolders, WorkerNode, ActiveRuns, Leases, Recovery],
    ...[Dependencies, Placement, Scheduler],
    ...[EventStore, ProjectLock, ProjectSync, JobProjectFiles],
    ...[JobCredentials, PlaybookJob, RunsHandler, runsProcessorProvider],
  ],
})
export class ExecutionModule {}
