import { MEGABYTE } from './http-settings.js';
import { bytes, integer } from './setting.js';

/** Limits of one bulk request. */
export const BULK_SETTINGS = {
  BULK_BODY_LIMIT: bytes({
    category: 'bulk',
    default: MEGABYTE,
    min: 1024,
    help: 'Largest body of a bulk host request in bytes.',
  }),
  BULK_JOB_MAX_LAUNCH: integer({
    category: 'bulk',
    default: 100,
    min: 1,
    max: 100_000,
    runtime: true,
    help: 'Jobs one bulk launch may have.',
  }),
  BULK_JOB_VARIABLES_LIMIT: integer({
    category: 'bulk',
    default: MEGABYTE,
    min: 1024,
    runtime: true,
    help: 'Characters, as JSON, that the variables of all jobs of one bulk launch may have; those of the launch count for each job.',
  }),
  BULK_HOST_MAX_CREATE: integer({
    category: 'bulk',
    default: 100,
    min: 1,
    max: 100_000,
    runtime: true,
    help: 'Hosts one bulk create may have.',
  }),
  BULK_HOST_STREAM_LIMIT: bytes({
    category: 'bulk',
    default: 100 * MEGABYTE,
    min: 1024,
    help: 'Largest bulk create sent as lines (application/x-ndjson), in bytes.',
  }),
  BULK_HOST_MAX_STREAM: integer({
    category: 'bulk',
    default: 100_000,
    min: 1,
    max: 1_000_000,
    runtime: true,
    help: 'Hosts one bulk create sent as lines may have.',
  }),
  BULK_HOST_MAX_DELETE: integer({
    category: 'bulk',
    default: 250,
    min: 1,
    max: 100_000,
    runtime: true,
    help: 'Hosts one bulk delete may have.',
  }),
} as const;
