import { Module } from '@nestjs/common';
import { AdHocCommandsModule } from '../ad-hoc-commands/ad-hoc-commands.module.js';
import { HostMetricsModule } from '../host-metrics/host-metrics.module.js';
import { InstancesModule } from '../instances/instances.module.js';
import { InventorySourcesModule } from '../inventory-sources/inventory-sources.module.js';
import { LaunchingModule } from '../launching/launching.module.js';
import { LoggingModule } from '../logging/logging.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { SchedulesWorkerModule } from '../schedules/schedules-worker.module.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { InventoriesModule } from '../inventories/inventories.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { SandboxService } from './sandbox/sandbox.service.js';
import { Dependencies } from './scheduler/dependencies.service.js';
import { Placement } from './scheduler/placement.service.js';
import { Scheduler } from './scheduler/scheduler.js';
import { ActiveRuns } from './worker/active-runs.service.js';
import { AdHocRun } from './ad-hoc/ad-hoc-run.service.js';
import { AnsibleProcess } from './worker/ansible-process.service.js';
import { EventPartitions } from './worker/event-partitions.service.js';
import { EventStore } from './worker/event-store.service.js';
import { JobCredentials } from './worker/job-credentials.service.js';
import { JobEnvironments } from './worker/job-environments.service.js';
import { JobFacts } from './worker/job-facts.service.js';
import { JobInventory } from './worker/job-inventory.service.js';
import { JobProjectFiles } from './worker/job-project-files.service.js';
import { InputInventories } from './inventory-updates/input-inventories.service.js';
import { InventoryReader } from './inventory-updates/inventory-reader.service.js';
import { InventoryUpdate } from './inventory-updates/inventory-update.service.js';
import { Leases } from './worker/leases.service.js';
import { PlaybookJob } from './worker/playbook-job.service.js';
import { ProjectContent } from './project-updates/project-content.service.js';
import { ProjectSync } from './project-updates/project-sync.service.js';
import { Recovery } from './worker/recovery.service.js';
import { RunsHandler } from './worker/runs.handler.js';
import { runsProcessorProvider } from './worker/runs.processor.js';
import { SystemJobsModule } from '../system-jobs/system-jobs.module.js';
import { SystemJobRun } from './system-jobs/system-job-run.service.js';
import { Subscriber } from './worker/subscriber.service.js';
import { WorkerNode } from './worker/worker-node.service.js';
import { ApprovalTimeouts } from './workflow-engine/approval-timeouts.service.js';
import { NodeRuns } from './workflow-engine/node-runs.service.js';
import { WorkflowEngine } from './workflow-engine/workflow-engine.js';
import { WorkflowGraphs } from './workflow-engine/workflow-graphs.service.js';

/** Scheduler, workflow engine, runner and cleanup of runs. Only the worker process loads this module. */
@Module({
  imports: [
    AdHocCommandsModule,
    CredentialsModule,
    HostMetricsModule,
    InstancesModule,
    InventoriesModule,
    InventorySourcesModule,
    LaunchingModule,
    LoggingModule,
    OrganizationsModule,
    ProjectsModule,
    RunsModule,
    SchedulesWorkerModule,
    SystemJobsModule,
    WorkflowsModule,
  ],
  providers: [
    SandboxService,
    Subscriber,
    WorkerNode,
    ActiveRuns,
    Leases,
    Recovery,
    Dependencies,
    Placement,
    Scheduler,
    WorkflowEngine,
    WorkflowGraphs,
    NodeRuns,
    ApprovalTimeouts,
    EventStore,
    EventPartitions,
    ProjectContent,
    ProjectSync,
    JobProjectFiles,
    InputInventories,
    InventoryReader,
    InventoryUpdate,
    JobCredentials,
    JobEnvironments,
    JobFacts,
    JobInventory,
    AnsibleProcess,
    PlaybookJob,
    AdHocRun,
    SystemJobRun,
    RunsHandler,
    runsProcessorProvider,
  ],
})
export class ExecutionModule {}
