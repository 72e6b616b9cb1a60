import { columnOf } from '../fields/field.js';
import { fieldOf, type ResourceDefinition, type Row } from '../resource/define-resource.js';

export interface ObjectRef {
  type: string;
  id: number;
  name: string;
  organizationId?: number | null;
  /** Parent object whose readers can also read the entry, even after object 1 has been deleted. */
  parent?: { type: string; id: number } | null;
}

export interface ActivityEntry {
  operation: 'create' | 'update' | 'delete' | 'associate' | 'disassociate';
  object1: ObjectRef;
  object2?: ObjectRef;
  /** Relation of an association; `role` for grants. */
  association?: string;
  /** Resource type of a granted role. */
  objectType?: string;
  changes: Record<string, unknown>;
}

/**
 * Records activity entries. `record` joins the caller's transaction, so an entry exists if and only if
 * the change is committed. Implemented by the activity module.
 */
export abstract class ActivityRecorder {
  abstract record(entry: ActivityEntry): void;
}

/** Returns the reference to a row for an activity entry. */
export function refOf(definition: ResourceDefinition, row: Row): ObjectRef {
  const organization = definition.type === 'organization' ? row.id : row.organization_id;
  return {
    type: definition.type,
    id: row.id,
    name: String(row.name ?? row.username ?? row.id),
    organizationId: typeof organization === 'number' ? organization : null,
    parent: parentOf(definition, row),
  };
}

function parentOf(
  definition: ResourceDefinition,
  row: Row,
): NonNullable<ObjectRef['parent']> | null {
  const { auditParent } = definition;
  if (!auditParent) return null;
  const id = row[columnOf(fieldOf(definition, auditParent.field))];
  return typeof id === 'number' ? { type: auditParent.type, id } : null;
}
