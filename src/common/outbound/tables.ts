import { defineTable } from '../../database/table.js';

/** Destinations that failed lately. A destination without a row is in order. */
defineTable({
  name: 'outbound_breakers',
  columns: {
    destination: { type: 'text', primary: true },
    /** Failures in a row. */
    failures: { type: 'integer', default: '0' },
    /** How often the breaker opened in a row; decides how long it stays open. */
    trips: { type: 'integer', default: '0' },
    open_until: { type: 'timestamp with time zone', nullable: true },
    /** Until then one attempt is finding out whether the destination is back. */
    probe_until: { type: 'timestamp with time zone', nullable: true },
  },
});
