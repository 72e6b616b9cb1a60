import { defineTable } from '../../database/table.js';

/** First responses to requests with an `Idempotency-Key`. They are replayed for 24 hours. */
defineTable({
  name: 'idempotency_keys',
  columns: {
    /** Digest of method, path, caller and key. */
    key: { type: 'text', primary: true },
    /** Digest of the query and body of the first request. */
    request: { type: 'text' },
    status: { type: 'integer', default: '0' },
    location: { type: 'text', nullable: true },
    /** Response body as JSON text. */
    body: { type: 'text', default: "''" },
    created: { type: 'timestamp with time zone', default: 'now()' },
  },
  indexes: [{ name: 'idempotency_keys_created_idx', columns: ['created'] }],
});
