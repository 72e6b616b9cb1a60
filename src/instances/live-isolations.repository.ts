import { sql, type Sql } from '../database/sql.js';
import { NODE_LOST_SECONDS } from './worker-node-table.js';

/** `label` and `value`: each isolation that a machine with a live worker has, and how many have it. */
export const liveIsolations = (): Sql => sql`
  SELECT isolation AS label, count(*)::int AS value FROM instances
  WHERE hostname IN (SELECT hostname FROM worker_nodes
    WHERE last_seen > now() - make_interval(secs => ${NODE_LOST_SECONDS}))
  GROUP BY isolation`;
