import { availableParallelism, totalmem } from 'node:os';
import { system } from './setting.js';

export const MEGABYTE = 1_048_576;

/** Maximum memory that an API process may need. */
const PROCESS_BYTES = 256 * MEGABYTE;

/** Returns one process per core, limited by the memory that is available to this container. */
function processesOfMachine(
  cores = availableParallelism(),
  bytes = process.constrainedMemory() || totalmem(),
): number {
  return Math.max(1, Math.min(cores, Math.floor(bytes / PROCESS_BYTES)));
}

/** Number and shutdown of API processes, and limits for connections and unauthenticated requests. */
export const HTTP_SETTINGS = {
  WEB_CONCURRENCY: system.integer({
    default: 1,
    min: 1,
    max: 256,
    auto: processesOfMachine,
    help: 'Number of API processes that share the port. `auto`: one for each core, limited by the available memory.',
  }),
  SHUTDOWN_DRAIN_SECONDS: system.seconds({
    default: 0,
    min: 0,
    max: 20,
    help: 'Seconds for which the API keeps serving requests after SIGTERM, while /health/ready returns 503, so that an orchestrator routes new requests elsewhere. The image sets 5. SIGINT (Ctrl-C) skips this time.',
  }),
  CONNECTIONS_PER_ADDRESS: system.integer({
    default: 512,
    min: 1,
    help: 'Maximum number of open connections from one address to the API of one machine. Connections from TRUSTED_PROXIES are not counted.',
  }),
  UNAUTHENTICATED_BYTES_MAX: system.bytes({
    default: 64 * MEGABYTE,
    min: MEGABYTE,
    help: 'Maximum total size of the bodies of unauthenticated requests, such as webhook deliveries, that the API of one machine keeps in memory, in bytes.',
  }),
} as const;
