import { defineTable } from '../database/table.js';

/** Settings changed at run time; a missing row means the environment's value. */
defineTable({
  name: 'settings',
  columns: {
    name: { type: 'text', primary: true },
    value: { type: 'json' },
    modified: { type: 'timestamp with time zone', default: 'now()' },
  },
});

/** Facts about this installation, such as its id. */
defineTable({
  name: 'installation',
  columns: {
    name: { type: 'text', primary: true },
    value: { type: 'text' },
  },
});
