import { defineTable } from '../database/table.js';

/** A worker not heard of for this long counts for nothing in the capacity, in seconds. */
export const NODE_LOST_SECONDS = 30;

/** Worker processes that are alive; together they are the capacity of the scheduler. */
defineTable({
  name: 'worker_nodes',
  columns: {
    /** `<hostname>/<host key>/<pid>-<random>`, also what a lease names as its holder. */
    name: { type: 'text', primary: true },
    hostname: { type: 'text' },
    /** Same for processes that see each other's process ids and share the work folder. */
    host_key: { type: 'text' },
    pid: { type: 'integer' },
    /** Start of the process in the kernel's count: tells it from a later one with the same pid. */
    start_time: { type: 'text' },
    capacity: { type: 'integer' },
    last_seen: { type: 'timestamp with time zone', default: 'now()' },
  },
});
