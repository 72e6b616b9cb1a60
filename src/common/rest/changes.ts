import { exactJson, isSameJson } from '../exact-json.js';
import { columnOf, type Field } from '../fields/field.js';
import { parentColumns, type ResourceDefinition, type Row } from '../resource/define-resource.js';
import type { Values } from './hooks.js';
import { isWritable } from '../fields/reads.decorator.js';

/** Placeholder in the audit trail for secret values. */
const HIDDEN = 'hidden';

/**
 * Returns the fields that a PATCH reads. Fields that are fixed on creation are ignored without an
 * error.
 */
export const changeable = ({ fields }: Pick<ResourceDefinition, 'fields'>): readonly Field[] =>
  fields.filter(({ immutable }) => !immutable);

/**
 * Returns the fields that a PUT reads. Secrets that the body omits keep their values, because a client
 * cannot send back a secret that it never received.
 */
export const replaceable = (definition: ResourceDefinition, body: Values): readonly Field[] =>
  changeable(definition).filter(
    ({ name, required }) =>
      required || !definition.auditHidden.includes(name) || Object.hasOwn(body, name),
  );

/**
 * Returns the values that differ from the row. Timestamps and JSON are compared by meaning, not
 * by text.
 */
export function changesOf(definition: ResourceDefinition, row: Row, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => {
      const field = definition.field(name);
      if (!field?.column) return true;
      return !isSame(field, row[field.column], value);
    }),
  );
}

function isSame(field: Field, stored: unknown, sent: unknown): boolean {
  if (field.kind === 'json') return isSameJson(stored, sent);
  if (field.kind === 'datetime' && typeof stored === 'string' && typeof sent === 'string') {
    return new Date(stored).getTime() === new Date(sent).getTime();
  }
  return stored === sent;
}

const loggedValue = (field: Field, value: unknown): unknown =>
  field.kind === 'secret' || (!field.filter && field.kind !== 'json') || field.writeOnly
    ? HIDDEN
    : value;

const loggedFields = (definition: ResourceDefinition): readonly Field[] =>
  definition.fields.filter((field) => field.column !== null && isWritable(field) && !field.hidden);

/**
 * Returns the `changes` of a create or delete entry: every writable field, with secrets hidden
 * (docs/contract/activity.md#changes).
 */
export function rowChanges(definition: ResourceDefinition, row: Row): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const field of loggedFields(definition)) {
    changes[field.name] = definition.auditHidden.includes(field.name)
      ? HIDDEN
      : loggedValue(field, row[columnOf(field)]);
  }
  return { ...changes, id: row.id };
}

/** Returns the `changes` of an update entry: `{field: [old, new]}`. */
export function updateChanges(
  definition: ResourceDefinition,
  before: Row,
  changed: Values,
): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(changed)) {
    const field = definition.field(name);
    if (!field) continue;
    const hidden = definition.auditHidden.includes(name) || field.column === null;
    changes[name] = hidden
      ? [HIDDEN, HIDDEN]
      : [loggedValue(field, before[columnOf(field)]), loggedValue(field, value)];
  }
  return changes;
}

/**
 * Converts values by field name to values by column name, with JSON in the form that the driver
 * accepts.
 */
export function columnsOf(definition: ResourceDefinition, values: Values): Values {
  const columns: Values = {};
  for (const [name, value] of Object.entries(values)) {
    const field = definition.field(name);
    if (!field?.column) continue;
    columns[field.column] = field.kind === 'json' && value !== null ? exactJson(value) : value;
  }
  return columns;
}

/** Returns true if an update changed a reference to a parent whose roles imply roles of this object. */
export function parentChanged(definition: ResourceDefinition, before: Row, after: Row): boolean {
  return parentColumns(definition).some((column) => before[column] !== after[column]);
}
