import { MEGABYTE } from './http-settings.js';
import { bulk } from './setting.js';

/** Limits of one bulk request. */
export const BULK_SETTINGS = {
  BULK_BODY_LIMIT: bulk.bytes({
    default: MEGABYTE,
    min: 1024,
    help: 'Maximum size of the body of a bulk request, in bytes, except hosts sent as lines.',
  }),
  BULK_JOB_MAX_LAUNCH: bulk.integer({
    default: 100,
    min: 1,
    max: 100_000,
    runtime: true,
    help: 'Maximum number of jobs in one bulk launch.',
  }),
  BULK_JOB_VARIABLES_LIMIT: bulk.integer({
    default: MEGABYTE,
    min: 1024,
    runtime: true,
    help: 'Maximum number of characters of the variables of all jobs in one bulk launch, as JSON. The variables of the launch count once for each job.',
  }),
  BULK_HOST_MAX_CREATE: bulk.integer({
    default: 100,
    min: 1,
    max: 100_000,
    runtime: true,
    help: 'Maximum number of hosts in one bulk create.',
  }),
  BULK_HOST_STREAM_LIMIT: bulk.bytes({
    default: 100 * MEGABYTE,
    min: 1024,
    help: 'Maximum size of an NDJSON bulk create (application/x-ndjson), in bytes.',
  }),
  BULK_HOST_MAX_STREAM: bulk.integer({
    default: 100_000,
    min: 1,
    max: 1_000_000,
    runtime: true,
    help: 'Maximum number of hosts in one NDJSON bulk create.',
  }),
  BULK_HOST_MAX_DELETE: bulk.integer({
    default: 250,
    min: 1,
    max: 100_000,
    runtime: true,
    help: 'Maximum number of hosts in one bulk delete.',
  }),
} as const;
