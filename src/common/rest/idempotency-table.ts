import { defineTable } from '../../database/table.js';

/** First answers to requests that carried an `Idempotency-Key`; they count for 24 hours. */
defineTable({
  name: 'idempotency_keys',
  columns: {
    /** Digest of method, path, caller and key. */
    key: { type: 'text', primary: true },
    /** Digest of the body the first request had. */
    request: { type: 'text' },
    status: { type: 'integer', default: '0' },
    location: { type: 'text', nullable: true },
    /** The answer as JSON text. */
    body: { type: 'text', default: "''" },
    created: { type: 'timestamp with time zone', default: 'now()' },
  },
  indexes: [{ name: 'idempotency_keys_created_idx', columns: ['created'] }],
});
