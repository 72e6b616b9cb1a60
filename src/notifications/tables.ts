import { defineTable } from '../database/table.js';

/** What came of each attempt to send a notification (decision 33). */
defineTable({
  name: 'notification_attempts',
  columns: {
    id: { type: 'integer', primary: true, identity: true },
    notification_id: {
      type: 'integer',
      references: { table: 'notifications', onDelete: 'CASCADE' },
    },
    number: { type: 'integer' },
    created: { type: 'timestamp with time zone', default: 'now()' },
    successful: { type: 'boolean' },
    status_code: { type: 'integer', nullable: true },
    detail: { type: 'text', default: "''" },
    duration_ms: { type: 'integer', nullable: true },
  },
  indexes: [
    {
      name: 'notification_attempts_key',
      columns: ['notification_id', 'number'],
      unique: true,
    },
  ],
});
