import { Injectable } from '@nestjs/common';
import { BadRequest, Forbidden } from '../common/http/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import type { ResourceHooks } from '../common/resource/hooks.js';
import { isFinal } from './state-machine.js';
import type { JobStatus } from './unified-job.schema.js';

/** Time in which the events of a finished run may still be on their way. */
const SETTLING_MS = 60_000;

@Injectable()
export class JobHooks implements ResourceHooks {
  async prepareDelete(row: Row): Promise<void> {
    assertDeletable(row);
  }
}

/** The deletion rule of runs (core 11.6). @throws Forbidden, BadRequest */
export function assertDeletable(row: Row): void {
  if (!isFinal(row.status as JobStatus)) throw new Forbidden('Cannot delete running job resource.');
  const age = Date.now() - new Date(String(row.finished)).getTime();
  if (row.event_processing_finished === false && age < SETTLING_MS) {
    throw new BadRequest('Job has not finished processing events.');
  }
}
