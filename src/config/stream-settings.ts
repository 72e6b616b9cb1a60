import { integer, seconds } from './setting.js';

/** Limits of live streams (server-sent events), each of which holds a connection. */
export const STREAM_SETTINGS = {
  STREAMS_PER_USER: integer({
    category: 'system',
    default: 10,
    min: 1,
    help: 'Live streams one user may have open, on one machine.',
  }),
  STREAMS_MAX: integer({
    category: 'system',
    default: 500,
    min: 1,
    help: 'Live streams all users together may have open, on one machine.',
  }),
  STREAM_SECONDS: seconds({
    category: 'system',
    default: 600,
    min: 1,
    help: 'Longest time of one live stream; the client comes again and proves anew who it is.',
  }),
} as const;
