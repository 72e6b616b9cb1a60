import { availableParallelism, totalmem } from 'node:os';
import { bytes, integer, seconds } from './setting.js';

export const MEGABYTE = 1_048_576;

/** Maximum memory that an API process may need. */
const PROCESS_BYTES = 256 * MEGABYTE;

/** Returns one process per core, limited by the memory that is available to this container. */
export function processesOfMachine(
  cores = availableParallelism(),
  bytes = process.constrainedMemory() || totalmem(),
): number {
  return Math.max(1, Math.min(cores, Math.floor(bytes / PROCESS_BYTES)));
}

/** Number of API processes, and limits for unauthenticated clients. */
export const HTTP_SETTINGS = {
  WEB_CONCURRENCY: integer({
    category: 'system',
    default: 1,
    min: 1,
    max: 256,
    auto: processesOfMachine,
    help: 'Processes of the API behind its port. `auto`: one for each core, as far as the memory reaches.',
  }),
  SHUTDOWN_DRAIN_SECONDS: seconds({
    category: 'system',
    default: 0,
    min: 0,
    max: 20,
    help: 'Time in which the API serves on after SIGTERM, while /health/ready answers 503, so that an orchestrator sends new requests elsewhere. The image says 5; SIGINT (Ctrl-C) ends without.',
  }),
  CONNECTIONS_PER_ADDRESS: integer({
    category: 'system',
    default: 512,
    min: 1,
    help: 'Connections one address may have open to the API of one machine; those of TRUSTED_PROXIES are not counted.',
  }),
  STRANGER_BYTES_MAX: bytes({
    category: 'system',
    default: 64 * MEGABYTE,
    min: MEGABYTE,
    help: 'Bytes of bodies the API of one machine holds at once for senders who have not proved yet who they are, such as those of webhooks.',
  }),
} as const;
