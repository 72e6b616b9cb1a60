import { ident, raw, sql, type Sql } from '../../database/sql.js';
import { refOf } from '../activity/activity.js';
import type { OrderTerm } from '../list/order.js';
import type { ManyToMany, Relation, ResourceDefinition, Row } from '../resource/define-resource.js';
import { idType, linkIdType } from '../resource/ids.js';
import { relationCondition } from '../resource/relation-condition.js';
import type { LinkContext, SubListFactory, SubListSpec } from './sublist.js';

type SubListOptions<Rules> = Partial<SubListSpec<Row, Row, Rules>>;

function relationOf(definition: ResourceDefinition, name: string): Relation {
  const relation = definition.relations[name];
  if (!relation) throw new Error(`${definition.type} has no relation ${name}`);
  return relation;
}

const parentId = (definition: ResourceDefinition, parent: Row): Sql =>
  sql`${parent.id}::${raw(idType(definition))}`;

/**
 * Declares a list of rows that reference the parent: `GET` lists the rows, `POST` creates a row below the
 * parent.
 */
export function children<Rules>(
  relationName: string,
  options: SubListOptions<Rules> & { readOnly?: boolean } = {},
): SubListFactory {
  return (definition) => {
    const relation = relationOf(definition, relationName);
    if (relation.kind !== 'has-many') throw new Error(`${relationName} is not has-many`);
    const { readOnly, ...rest } = options;
    return {
      target: relation.target,
      scope: (parent) => relationCondition(relation, parentId(definition, parent), 't'),
      ...(readOnly ? {} : { create: (parent) => ({ [relation.field]: parent.id }) }),
      options: () => ({ counted: countedBy(relation) }),
      needs: 'read',
      ...rest,
    };
  };
}

/**
 * Returns true if the reference between the rows and their parent is a column by which row totals are
 * maintained.
 */
function countedBy(relation: Relation): boolean {
  if (relation.kind !== 'has-many') return false;
  const target = relation.target();
  const column = target.field(relation.field)?.column;
  const { columns = {}, rule } = target.counter ?? {};
  return typeof column === 'string' && !rule && Object.hasOwn(columns, column);
}

/** Declares a read-only list of rows found through any relation. */
export function related<Rules>(
  relationName: string,
  options: SubListOptions<Rules> = {},
): SubListFactory {
  return (definition) => {
    const relation = relationOf(definition, relationName);
    return {
      target: relation.target,
      scope: (parent) => relationCondition(relation, parentId(definition, parent), 't'),
      options: () => ({ counted: countedBy(relation) }),
      ...options,
    };
  };
}

/** Declares a list of any target, for a parent object without a table of its own. */
export const subListOf =
  <Rules>(
    target: () => ResourceDefinition,
    scope: SubListSpec<Row, Row, Rules>['scope'],
    options: SubListOptions<Rules> = {},
  ): SubListFactory =>
  () => ({ target, scope, ...options });

/**
 * Declares a list of rows linked by a link table. Attaching is idempotent; detaching removes the link
 * and never deletes the child (docs/contract/conventions.md#sub-lists).
 *
 * @param options `check` throws to refuse attaching a child, `beforeDetach` to refuse detaching a child
 */
export function attached<Rules>(
  relationName: string,
  options: Omit<SubListOptions<Rules>, 'attach' | 'detach'> & {
    check?(context: LinkContext<Row, Rules>, child: Row): Promise<void>;
    association?: string;
    beforeDetach?(context: LinkContext<Row, Rules>, child: Row): Promise<void>;
    afterDetach?(context: LinkContext<Row, Rules>, child: Row): Promise<void>;
  } = {},
): SubListFactory {
  return (definition, name) => {
    const relation = relationOf(definition, relationName);
    if (relation.kind !== 'many-to-many') throw new Error(`${relationName} is not many-to-many`);
    const { check, association = name, beforeDetach, afterDetach, ...rest } = options;
    return {
      target: relation.target,
      scope: (parent) => relationCondition(relation, parentId(definition, parent), 't'),
      ...(relation.ordered
        ? { options: ({ parent }) => ({ order: [linkOrder(definition, relation, parent)] }) }
        : {}),
      attach: async (context: LinkContext<Row, Rules>, child: Row) => {
        await check?.(context, child);
        const isAdded = await context.services.rows.attach(relation, context.parent.id, child.id);
        if (isAdded) recordLink(context, relation, child, association, 'associate');
      },
      detach: async (context: LinkContext<Row, Rules>, child: Row) => {
        await beforeDetach?.(context, child);
        const isRemoved = await context.services.rows.detach(relation, context.parent.id, child.id);
        if (isRemoved) recordLink(context, relation, child, association, 'disassociate');
        await afterDetach?.(context, child);
      },
      ...rest,
    };
  };
}

/** Order in which the children were attached. */
const linkOrder = (
  definition: ResourceDefinition,
  relation: ManyToMany,
  parent: Row,
): OrderTerm => ({
  expression: sql`(
    SELECT lnk.id FROM ${ident(relation.table)} lnk
    WHERE lnk.${ident(relation.sourceColumn)} = ${parent.id}
      AND lnk.${ident(relation.targetColumn)} = t.id)`,
  descending: false,
  name: 'position',
  kind: 'integer',
  columnType: linkIdType(definition, relation),
  nullable: false,
  column: 'order_0',
});

function recordLink(
  { services, parent, parentDefinition }: LinkContext,
  relation: ManyToMany,
  child: Row,
  association: string,
  operation: 'associate' | 'disassociate',
): void {
  const object1 = refOf(parentDefinition, parent);
  const object2 = refOf(relation.target(), child);
  services.activity.record({
    operation,
    object1,
    object2,
    association,
    changes: {
      object1: object1.type,
      object1_pk: object1.id,
      object2: object2.type,
      object2_pk: object2.id,
      action: operation,
      relationship: association,
    },
  });
}
