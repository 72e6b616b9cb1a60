import { exactJson, isSameJson } from '../exact-json.js';
import { columnOf, type Field } from '../fields/field.js';
import type { ResourceDefinition, Row } from '../resource/define-resource.js';
import type { Values } from './hooks.js';
import { isWritable } from '../fields/reads.js';

/** Words of the audit trail for values nobody may see. */
const HIDDEN = 'hidden';

/** Fields that a PATCH reads. Fields that are fixed on creation are ignored, whatever is sent. */
export const changeable = ({ fields }: Pick<ResourceDefinition, 'fields'>): readonly Field[] =>
  fields.filter(({ immutable }) => !immutable);

/** Fields that a PUT reads. A client cannot send back the secrets it was not shown: they stay. */
export const replaceable = (definition: ResourceDefinition, body: Values): readonly Field[] =>
  changeable(definition).filter(
    ({ name, required }) =>
      required || !definition.auditHidden.includes(name) || Object.hasOwn(body, name),
  );

/** The given values that differ from the row; instants and JSON are compared by meaning. */
export function changesOf(definition: ResourceDefinition, row: Row, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => {
      const field = definition.field(name);
      if (!field?.column) return true;
      return !same(field, row[field.column], value);
    }),
  );
}

function same(field: Field, stored: unknown, given: unknown): boolean {
  if (field.kind === 'json') return isSameJson(stored, given);
  if (field.kind === 'datetime' && typeof stored === 'string' && typeof given === 'string') {
    return new Date(stored).getTime() === new Date(given).getTime();
  }
  return stored === given;
}

const shown = (field: Field, value: unknown): unknown =>
  field.kind === 'secret' || (!field.filter && field.kind !== 'json') || field.writeOnly
    ? HIDDEN
    : value;

const logged = (definition: ResourceDefinition): readonly Field[] =>
  definition.fields.filter((field) => field.column !== null && isWritable(field) && !field.hidden);

/**
 * `changes` of a create or delete: every writable field, secrets hidden
 * (docs/contract/activity.md#changes).
 */
export function rowChanges(definition: ResourceDefinition, row: Row): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const field of logged(definition)) {
    changes[field.name] = definition.auditHidden.includes(field.name)
      ? HIDDEN
      : shown(field, row[columnOf(field)]);
  }
  return { ...changes, id: row.id };
}

/** `changes` of an update: `{field: [old, new]}`. */
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
      : [shown(field, before[columnOf(field)]), shown(field, value)];
  }
  return changes;
}

/** Values by column instead of by field; JSON as the driver takes it. */
export function columnsOf(definition: ResourceDefinition, values: Values): Values {
  const columns: Values = {};
  for (const [name, value] of Object.entries(values)) {
    const field = definition.field(name);
    if (!field?.column) continue;
    columns[field.column] = field.kind === 'json' && value !== null ? exactJson(value) : value;
  }
  return columns;
}

/** Whether a row came under another object whose roles imply its own. */
export function parentChanged(definition: ResourceDefinition, before: Row, after: Row): boolean {
  const parents = definition.roles.flatMap((role) => Object.keys(role.impliedByParent ?? {}));
  return parents.some((name) => {
    const column = definition.field(name)?.column ?? `${name}_id`;
    return before[column] !== after[column];
  });
}
