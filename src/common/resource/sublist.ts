import { RequestMethod } from '@nestjs/common';
import { ident, raw, sql, type Sql } from '../../database/sql.js';
import type { Actor } from '../access.js';
import { refOf } from '../activity/activity.js';
import { INT4_MAX } from '../fields/text.js';
import { toBoolean } from '../fields/validate.js';
import { BadRequest } from '../http/errors.js';
import { Reply } from '../http/reply.js';
import type { ApiRequest } from '../http/request.js';
import type { ListOptions } from '../list/list.service.js';
import { addRoute } from './add-route.js';
import { relationCondition, type Relation, type ResourceDefinition, type Row } from './define-resource.js';
import type { Values } from './hooks.js';
import type { Machinery } from './machinery.js';
import type { GenericController, GenericControllerClass } from './resource.controller.js';

export interface LinkContext {
  machinery: Machinery;
  actor: Actor;
  parent: Row;
  parentDefinition: ResourceDefinition;
}

/** What a list below an object is: where its rows come from and what POST does. */
export interface SubListSpec {
  target: () => ResourceDefinition;
  /** Condition on `t`, a row of the target. */
  scope: (parent: Row, context: LinkContext) => Sql;
  options?: (context: LinkContext) => ListOptions;
  events?: boolean;
  /** Values a child created here gets from its parent; absent: no create. */
  create?: (parent: Row) => Values;
  /** Decides in place of the child's `add` rule whether it may be created here; throws to refuse. */
  authoriseCreate?: (context: LinkContext) => Promise<void>;
  /** Action on the parent that creating, attaching and detaching need; default `change`. */
  needs?: string;
  attach?: (context: LinkContext, child: Row) => Promise<void>;
  detach?: (context: LinkContext, child: Row) => Promise<void>;
  /** Action on the child that attaching needs; default `read`. */
  childNeeds?: string;
  /** Text for a body without id where nothing can be created. */
  missingId?: string;
}

type SubListFactory = (definition: ResourceDefinition, name: string) => SubListSpec;

/** Declares `/<resource>/<id>/<name>/`; the name becomes a `related` link. */
export function SubList(
  name: string,
  factory: SubListFactory,
  { link = true, path = name }: { link?: boolean; path?: string } = {},
): ClassDecorator {
  return (target) => {
    const controller = target as unknown as GenericControllerClass;
    const { definition } = controller;
    const spec = factory(definition, name);
    if (link) definition.links.set(name, path);
    declareList(controller, definition, name, path, spec);
    if (spec.create || spec.attach) declarePost(controller, definition, name, path, spec);
  };
}

function declareList(
  controller: GenericControllerClass,
  parent: ResourceDefinition,
  name: string,
  path: string,
  spec: SubListSpec,
): void {
  addRoute(controller, `${name}_list`, {
    method: RequestMethod.GET,
    path: `:id/${path}`,
    info: {
      kind: 'list',
      access: 'authenticated',
      operationId: `${parent.path}_${name}_list`,
      summary: `List of ${name.replaceAll('_', ' ')} of one ${parent.label.toLowerCase()}.`,
      get resource() {
        return spec.target();
      },
      parent,
      ...(spec.events ? { events: true } : {}),
    },
    handler: async function (this: GenericController, request) {
      const context = await linkContext(this.machinery, parent, request);
      return this.machinery.resources.list(spec.target(), request.query, request.actor, {
        ...(spec.events ? { events: true } : {}),
        ...spec.options?.(context),
        scope: spec.scope(context.parent, context),
      });
    } as (request: ApiRequest) => Promise<unknown>,
  });
}

function declarePost(
  controller: GenericControllerClass,
  parent: ResourceDefinition,
  name: string,
  path: string,
  spec: SubListSpec,
): void {
  addRoute(controller, `${name}_add`, {
    method: RequestMethod.POST,
    path: `:id/${path}`,
    info: {
      kind: spec.create ? 'create' : 'associate',
      access: 'authenticated',
      operationId: `${parent.path}_${name}_add`,
      summary: `Add to the ${name.replaceAll('_', ' ')} of one ${parent.label.toLowerCase()}.`,
      get resource() {
        return spec.target();
      },
      parent,
      needs: spec.needs ?? 'change',
      get body() {
        return spec.create ? spec.target().fields : [];
      },
      attach: spec.attach !== undefined,
    },
    handler: function (this: GenericController, request) {
      return this.machinery.database.transaction(() => post(this.machinery, parent, spec, request));
    } as (request: ApiRequest) => Promise<unknown>,
  });
}

async function linkContext(
  machinery: Machinery,
  parentDefinition: ResourceDefinition,
  { params, actor }: ApiRequest,
): Promise<LinkContext> {
  const parent = await machinery.resources.load(parentDefinition, params.id, actor);
  return { machinery, actor, parent, parentDefinition };
}

async function post(
  machinery: Machinery,
  definition: ResourceDefinition,
  spec: SubListSpec,
  request: ApiRequest,
): Promise<Reply> {
  const context = await linkContext(machinery, definition, request);
  const { body, actor } = request;
  const detaching = body.disassociate !== undefined && toBoolean(body.disassociate) === true;
  if (spec.attach && (body.id !== undefined || detaching)) {
    return link(context, spec, body, detaching);
  }
  if (!spec.create) {
    throw new BadRequest(spec.missingId ?? `${spec.target().label} 'id' field is missing.`);
  }
  if (detaching) {
    throw new BadRequest('This list owns its objects: delete the object instead of removing it.');
  }
  const target = spec.target();
  const injected = spec.create(context.parent);
  const { authoriseCreate } = spec;
  const row = await machinery.resources.create(target, body, actor, {
    injected,
    ...(authoriseCreate ? { authorise: () => authoriseCreate(context) } : {}),
  });
  if (spec.attach) {
    await mayChange(context, spec);
    await spec.attach(context, row);
  }
  return Reply.created(await machinery.resources.show(target, row, actor));
}

const mayChange = (
  { machinery, parent, parentDefinition, actor }: LinkContext,
  spec: SubListSpec,
): Promise<void> =>
  machinery.resources.assertMay(parentDefinition, parent.id, spec.needs ?? 'change', actor);

/** `{id}` attaches, `{id, disassociate: true}` takes off; both are 204, also when repeated. */
async function link(
  context: LinkContext,
  spec: SubListSpec,
  body: Record<string, unknown>,
  detaching: boolean,
): Promise<Reply> {
  const { machinery, actor } = context;
  const target = spec.target();
  if (body.id === undefined) throw new BadRequest('"id" is required to disassociate');
  const id = typeof body.id === 'string' && /^\d{1,10}$/.test(body.id) ? Number(body.id) : body.id;
  if (typeof id !== 'number' || !Number.isInteger(id)) {
    throw new BadRequest('"id" field must be an integer.');
  }
  const child =
    id > 0 && id <= INT4_MAX
      ? await machinery.database.row<Row>(sql`
          SELECT t.* FROM ${ident(target.table)} t
          WHERE t.id = ${id} AND ${target.own('t')} FOR KEY SHARE`)
      : undefined;
  if (!child) {
    throw new BadRequest(`${target.label.replaceAll(' ', '')} matching query does not exist.`);
  }
  await mayChange(context, spec);
  const childAction = detaching ? 'read' : (spec.childNeeds ?? 'read');
  await machinery.references.assertAllowed(target, [id], childAction, actor);
  if (detaching) await spec.detach?.(context, child);
  else await spec.attach?.(context, child);
  return Reply.noContent();
}

function relationOf(definition: ResourceDefinition, name: string): Relation {
  const relation = definition.relations[name];
  if (!relation) throw new Error(`${definition.type} has no relation ${name}`);
  return relation;
}

const near = (parent: Row): Sql => sql`${parent.id}::int`;

/** Rows that point here by a reference of their own: `GET` lists, `POST` creates below this one. */
export function children(
  relationName: string,
  options: Partial<SubListSpec> & { readOnly?: boolean } = {},
): SubListFactory {
  return (definition) => {
    const relation = relationOf(definition, relationName);
    if (relation.kind !== 'has-many') throw new Error(`${relationName} is not has-many`);
    const { readOnly, ...rest } = options;
    return {
      target: relation.target,
      scope: (parent) => relationCondition(relation, near(parent), 't'),
      ...(readOnly ? {} : { create: (parent) => ({ [relation.field]: parent.id }) }),
      options: () => ({ counted: countedBy(relation) }),
      needs: 'read',
      ...rest,
    };
  };
}

/** Whether the reference that ties the children is the one their totals are kept by. */
function countedBy(relation: Extract<Relation, { kind: 'has-many' }>): boolean {
  const target = relation.target();
  const column = target.field(relation.field)?.column;
  return column !== undefined && target.counter?.column === column;
}

/** Rows found through any relation, read-only. */
export function related(
  relationName: string,
  options: Partial<SubListSpec> = {},
): SubListFactory {
  return (definition) => {
    const relation = relationOf(definition, relationName);
    return {
      target: relation.target,
      scope: (parent) => relationCondition(relation, near(parent), 't'),
      ...options,
    };
  };
}

/** A relation any target can return from an object without a table of its own. */
export const listOf =
  (target: () => ResourceDefinition, scope: SubListSpec['scope'], options: Partial<SubListSpec> = {}): SubListFactory =>
  () => ({ target, scope, ...options });

/**
 * Rows tied by a link table. Attaching is idempotent; detaching takes the tie off and never
 * deletes the child (decision 26).
 *
 * @param check refuses a child that does not fit, by throwing
 */
export function attached(
  relationName: string,
  options: Partial<Omit<SubListSpec, 'attach' | 'detach'>> & {
    check?: (context: LinkContext, child: Row) => Promise<void>;
    association?: string;
    afterDetach?: (context: LinkContext, child: Row) => Promise<void>;
  } = {},
): SubListFactory {
  return (definition, name) => {
    const relation = relationOf(definition, relationName);
    if (relation.kind !== 'many-to-many') throw new Error(`${relationName} is not many-to-many`);
    const { check, association = name, afterDetach, ...rest } = options;
    return {
      target: relation.target,
      scope: (parent) => relationCondition(relation, near(parent), 't'),
      ...(relation.ordered ? { options: () => ({ orderBy: ['id'] }) } : {}),
      attach: async (context, child) => {
        await check?.(context, child);
        const added = await context.machinery.database.execute(insertLink(relation, context, child));
        if (added > 0) recordLink(context, relation, child, association, 'associate');
      },
      detach: async (context, child) => {
        const removed = await context.machinery.database.execute(
          deleteLink(relation, context, child),
        );
        if (removed > 0) recordLink(context, relation, child, association, 'disassociate');
        await afterDetach?.(context, child);
      },
      ...rest,
    };
  };
}

type ManyToMany = Extract<Relation, { kind: 'many-to-many' }>;

function insertLink(relation: ManyToMany, { parent }: LinkContext, child: Row): Sql {
  const fixed = Object.entries(relation.fixed ?? {});
  const columns = [relation.near, relation.far, ...fixed.map(([column]) => column)];
  const values = [parent.id, child.id, ...fixed.map(([, value]) => value)];
  const list = (parts: Sql[]): Sql => parts.reduce((all, part) => sql`${all}, ${part}`);
  return sql`
    INSERT INTO ${ident(relation.table)} (${list(columns.map((column) => ident(column)))})
    VALUES (${list(values.map((value) => sql`${value}`))}) ON CONFLICT DO NOTHING`;
}

function deleteLink(relation: ManyToMany, { parent }: LinkContext, child: Row): Sql {
  const fixed = Object.entries(relation.fixed ?? {}).reduce<Sql>(
    (all, [column, value]) => sql`${all} AND ${ident(column)} = ${value}`,
    raw(''),
  );
  return sql`
    DELETE FROM ${ident(relation.table)}
    WHERE ${ident(relation.near)} = ${parent.id} AND ${ident(relation.far)} = ${child.id} ${fixed}`;
}

function recordLink(
  { machinery, parent, parentDefinition }: LinkContext,
  relation: ManyToMany,
  child: Row,
  association: string,
  operation: 'associate' | 'disassociate',
): void {
  const object1 = refOf(parentDefinition, parent);
  const object2 = refOf(relation.target(), child);
  machinery.activity.record({
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

