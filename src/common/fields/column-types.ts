import type { FieldKind } from './field.js';

/** PostgreSQL type of the column of each kind of field, unless its declaration says otherwise. */
export const COLUMN_TYPES: Record<FieldKind, string> = {
  string: 'text',
  text: 'text',
  integer: 'integer',
  boolean: 'boolean',
  choice: 'text',
  datetime: 'timestamp with time zone',
  float: 'double precision',
  json: 'json',
  variables: 'text',
  secret: 'text',
  email: 'text',
  reference: 'integer',
};
