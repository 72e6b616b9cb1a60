import { Module } from '@nestjs/common';
import { InventorySourcesModule } from '../inventory-sources/inventory-sources.module.js';
import { LaunchingModule } from '../launching/launching.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { DueSchedules } from './due-schedules.service.js';
import { ScheduledRuns } from './scheduled-runs.service.js';
import { SchedulesModule } from './schedules.module.js';

/** Launches due schedules; only loaded in the worker process. */
@Module({
  imports: [InventorySourcesModule, LaunchingModule, ProjectsModule, RunsModule, SchedulesModule],
  providers: [ScheduledRuns, DueSchedules],
  exports: [DueSchedules],
})
export class SchedulesWorkerModule {}
