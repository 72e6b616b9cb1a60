import { MEGABYTE } from './http-settings.js';
import { bytes, integer } from './setting.js';

/** Limits of one bulk request. */
export const BULK_SETTINGS = {
  BULK_BODY_LIMIT: bytes({
    category: 'bulk',
    default: MEGABYTE,
    min: 1024,
    help: 'Maximum size of the body of a bulk host request, in bytes.',
  }),
  BULK_JOB_MAX_LAUNCH: integer({
    category: 'bulk',
    default: 100,
    min: 1,
    max: 100_000,
    runtime: true,
    help: 'Maximum number of jobs in one bulk launch.',
  }),
  BULK_JOB_VARIABLES_LIMIT: integer({
    category: 'bulk',
    default: MEGABYTE,
    min: 1024,
    runtime: true,
    help: 'Maximum number of characters of the variables of all jobs in one bulk launch, as JSON. The variables of the launch count once for each job.',
  }),
  BULK_HOST_MAX_CREATE: integer({
    category: 'bulk',
    default: 100,
    min: 1,
    max: 100_000,
    runtime: true,
    help: 'Maximum number of hosts in one bulk create.',
  }),
  BULK_HOST_STREAM_LIMIT: bytes({
    category: 'bulk',
    default: 100 * MEGABYTE,
    min: 1024,
    help: 'Maximum size of a bulk create in lines (application/x-ndjson), in bytes.',
  }),
  BULK_HOST_MAX_STREAM: integer({
    category: 'bulk',
    default: 100_000,
    min: 1,
    max: 1_000_000,
    runtime: true,
    help: 'Maximum number of hosts in one bulk create in lines.',
  }),
  BULK_HOST_MAX_DELETE: integer({
    category: 'bulk',
    default: 250,
    min: 1,
    max: 100_000,
    runtime: true,
    help: 'Maximum number of hosts in one bulk delete.',
  }),
} as const;
