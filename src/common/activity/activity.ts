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

interface ActivityLink extends Omit<ActivityEntry, 'changes'> {
  object2: ObjectRef;
  relationship: string;
}

/**
 * Records activity entries. `record` joins the caller's transaction, so an entry exists if and only if
 * the change is committed. Implemented by the activity module.
 */
export abstract class ActivityRecorder {
  abstract record(entry: ActivityEntry): void;

  /** Records new values of an object. */
  recordUpdate(definition: ResourceDefinition, row: Row, changes: ActivityEntry['changes']): void {
    this.record({ operation: 'update', object1: refOf(definition, row), changes });
  }

  /** Records that two objects were linked or unlinked. */
  recordLink({ relationship, ...link }: ActivityLink): void {
    const { operation, object1, object2 } = link;
    this.record({
      ...link,
      changes: {
        object1: object1.type,
        object1_pk: object1.id,
        object2: object2.type,
        object2_pk: object2.id,
        action: operation,
        relationship,
      },
    });
  }
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
