import { defineTable } from '../database/table.js';

/** Browser sessions. The cookie contains a random text; only its digest is stored. */
defineTable({
  name: 'sessions',
  columns: {
    digest: { type: 'text', primary: true },
    user_id: { type: 'integer', references: { table: 'users', onDelete: 'CASCADE' } },
    /** `users.session_generation` at login. A change of the password ends older sessions. */
    generation: { type: 'integer' },
    created: { type: 'timestamp with time zone', default: 'now()' },
    last_seen: { type: 'timestamp with time zone', default: 'now()' },
  },
  indexes: [
    { name: 'sessions_user_id_idx', columns: ['user_id'] },
    { name: 'sessions_last_seen_idx', columns: ['last_seen'] },
  ],
});
