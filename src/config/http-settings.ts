import { integer } from './setting.js';

export const MEGABYTE = 1_048_576;

/** What clients may hold of a process before they have said who they are. */
export const HTTP_SETTINGS = {
  CONNECTIONS_PER_ADDRESS: integer({
    category: 'system',
    default: 512,
    min: 1,
    help: 'Connections one address may have open to one process; those of TRUSTED_PROXIES are not counted.',
  }),
  STRANGER_BYTES_MAX: integer({
    category: 'system',
    default: 64 * MEGABYTE,
    min: MEGABYTE,
    help: 'Bytes of bodies one process holds at once for senders who have not proved yet who they are, such as those of webhooks.',
  }),
} as const;
