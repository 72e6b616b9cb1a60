import { defineTable } from '../../database/table.js';

/** Destinations with recent failures. A destination without a row is healthy. */
defineTable({
  name: 'outbound_breakers',
  columns: {
    destination: { type: 'text', primary: true },
    /** Consecutive failures. */
    failures: { type: 'integer', default: '0' },
    /** Number of consecutive openings of the breaker, which decides for how long it stays open. */
    trips: { type: 'integer', default: '0' },
    open_until: { type: 'timestamp with time zone', nullable: true },
    /** End of the time in which one attempt probes the destination. */
    probe_until: { type: 'timestamp with time zone', nullable: true },
  },
});
