import { defineTable } from '../database/table.js';

/** Time without a heartbeat after which a worker no longer counts in the capacity, in seconds. */
export const NODE_LOST_SECONDS = 30;

/** Live worker processes; their total capacity is the capacity of the scheduler. */
defineTable({
  name: 'worker_nodes',
  columns: {
    /** Name `<hostname>/<host key>/<pid>-<random>`, which also identifies the holder of a lease. */
    name: { type: 'text', primary: true },
    hostname: { type: 'text' },
    /** Equal for processes that see each other's process ids and share the work folder. */
    host_key: { type: 'text' },
    pid: { type: 'integer' },
    /**
     * Start time of the process by the kernel, which distinguishes it from a later process with the
     * same id.
     */
    start_time: { type: 'text' },
    capacity: { type: 'integer' },
    last_seen: { type: 'timestamp with time zone', default: 'now()' },
  },
});
