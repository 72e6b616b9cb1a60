import { Injectable } from '@nestjs/common';
import { ListensToRuns, type RunChange, type RunListener } from '../runs/run-changes.service.js';
import { RunsRepository } from '../runs/runs.repository.js';

/** Kinds of runs that execution environments apply to; project updates use the worker's programs. */
const KINDS = ['job', 'ad_hoc_command', 'inventory_update'];

/**
 * Stores the execution environment of new runs, so that later changes of the environment do not
 * affect them (docs/contract/resources.md#execution-environments).
 */
@Injectable()
@ListensToRuns()
export class RunEnvironments implements RunListener {
  constructor(private readonly runs: RunsRepository) {}

  async runsChanged(changes: readonly RunChange[]): Promise<void> {
    const created = changes.filter(({ type, isNew }) => isNew === true && KINDS.includes(type));
    if (created.length > 0) await this.runs.settleEnvironments(created.map(({ jobId }) => jobId));
  }
}
