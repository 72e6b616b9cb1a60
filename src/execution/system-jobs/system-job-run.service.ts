import { Injectable } from '@nestjs/common';
import { failPoint } from '../../common/fail-point.js';
import { parseVariables } from '../../common/fields/variables.js';
import { Cleanups, type Removal } from '../../system-jobs/cleanups.js';
import { cleanupOptions, variableFaults } from '../../system-jobs/system-job-variables.js';
import { SystemJobsRepository } from '../../system-jobs/system-jobs.repository.js';
import type { ActiveRun } from '../worker/active-runs.service.js';
import { EventStore } from '../worker/event-store.service.js';
import { CannotStart, type RunKind, type RunOutcome } from '../worker/outcome.js';
import { RunOutput } from '../worker/run-output.js';

/** Number of removed objects between two lines of output. */
const LINE_EVERY = 500;

/**
 * Runs a system job. The job can be interrupted between two batches; the worker that takes over the job
 * removes the remaining objects.
 */
@Injectable()
export class SystemJobRun implements RunKind {
  readonly isTrusted = true;

  constructor(
    private readonly jobs: SystemJobsRepository,
    private readonly cleanups: Cleanups,
    private readonly events: EventStore,
  ) {}

  async run(run: ActiveRun): Promise<RunOutcome> {
    const { job_type: kind, extra_vars: text, ...position } = await this.jobs.started(run.id);
    const variables = parseVariables(text);
    const errors = variableFaults(variables);
    if (errors.length > 0) throw new CannotStart(errors.join(' '));
    const output = new RunOutput(this.events, run, position);
    const { days, isDryRun } = cleanupOptions(variables);
    const removal = this.cleanups.of(kind, days);
    const total = await removal.count();
    if (isDryRun) output.add(`Would delete ${format(total)} ${removal.objects}\n`);
    else await remove(run, removal, total, output);
    await output.end();
    const status = run.signal.aborted ? 'canceled' : 'successful';
    return { status, fields: { emitted_events: output.counter } };
  }
}

async function remove(
  run: ActiveRun,
  { objects, batches }: Removal,
  total: number,
  output: RunOutput,
): Promise<void> {
  let deleted = 0;
  let reported = 0;
  const report = (): void => {
    reported = deleted;
    output.add(`Deleted ${format(deleted)} of ${format(Math.max(total, deleted))} ${objects}\n`);
  };
  for await (const removed of batches()) {
    deleted += removed;
    if (removed > 0) failPoint('system-job-batch');
    if (run.signal.aborted) break;
    if (deleted >= reported + LINE_EVERY) report();
  }
  if (deleted > reported || deleted === 0) report();
}

const format = (count: number): string => count.toLocaleString('en-US');
