import { Body, createParamDecorator, Get, Post, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ident, raw, sql, type Sql } from '../../database/sql.js';
import type { Actor } from '../access.js';
import { refOf } from '../activity/activity.js';
import type { ProviderClass } from '../declared-providers.service.js';
import { labelOf } from '../fields/label.js';
import type { ListOptions } from '../list/list.service.js';
import type { OrderTerm } from '../list/order.js';
import type { Page } from '../list/page.js';
import type { QueryParameters } from '../list/query.js';
import { existing } from '../invariants.js';
import { prototypeOf } from '../records.js';
import type { ManyToMany, Relation, ResourceDefinition, Row } from '../resource/define-resource.js';
import { idType, linkIdType } from '../resource/ids.js';
import { relationCondition } from '../resource/relation-condition.js';
import type { Representation } from '../resource/representation.js';
import { CommonServices } from './common-services.service.js';
import { listEvents } from './event-list.js';
import type { Values } from './hooks.js';
import { CurrentActor, ListParams, Target } from './parameters.js';
import { controllerOf, type GenericController } from './resource.controller.js';
import { copyRoute, Route, type Candidates, type RouteInfo } from './route.js';
import { linkContextOf, openPartsOf, postToSubList } from './sublist-requests.js';

export interface LinkContext<Parent extends Row = Row, Rules = unknown> {
  services: CommonServices;
  actor: Actor;
  parent: Parent;
  parentDefinition: ResourceDefinition;
  /** Provider that the declaration of the list names as its `rules`. */
  rules: Rules;
}

/** Declaration of a list below an object: the source of its rows and the effect of POST. */
export interface SubListSpec<Parent extends Row = Row, Child extends Row = Row, Rules = unknown> {
  target: () => ResourceDefinition;
  /** Provider that the functions of this declaration receive as `rules` of their context. */
  rules?: ProviderClass<Rules>;
  /** Returns an SQL condition on `t`, a row of the target. */
  scope(parent: Parent, context: LinkContext<Parent, Rules>): Sql | Promise<Sql>;
  options?(context: LinkContext<Parent, Rules>): ListOptions;
  events?: boolean;
  /**
   * Returns the values that a new child receives from its parent. Absent: POST does not
   * create.
   */
  create?(parent: Parent): Values;
  /**
   * Returns false if no caller can create objects below this parent. The rules of the child give the
   * reason.
   */
  mayCreateIn?(parent: Parent): boolean;
  /** Replaces the child's `add` rule for creation in this list. Throws to refuse. */
  authorizeCreate?(context: LinkContext<Parent, Rules>): Promise<void>;
  /**
   * Throws if the caller cannot attach any object to this list. Decides the controls of pages and the
   * actions of OPTIONS; POST relies on `needs`, `childNeeds` and `attach`.
   */
  authorizeAttach?(context: LinkContext<Parent, Rules>): Promise<void>;
  /** Action on the parent required to create, attach or detach; default `change`. */
  needs?: string;
  /**
   * Returns the existing row that a body without an id describes. The row is attached instead of
   * created.
   */
  existing?(
    context: LinkContext<Parent, Rules>,
    body: Record<string, unknown>,
  ): Promise<Child | undefined>;
  /** Takes the locks that other code takes before the lock on the child. Runs before `attach` and `detach`. */
  lockFirst?(context: LinkContext<Parent, Rules>): Promise<void>;
  attach?(context: LinkContext<Parent, Rules>, child: Child): Promise<void>;
  /** Absent: the list owns its objects, which cannot be detached. */
  detach?(context: LinkContext<Parent, Rules>, child: Child): Promise<void>;
  /** Returns the objects that can be attached, if they are not all objects. Pages offer only these. */
  candidates?(parent: Parent): Candidates;
  /** Action on the child required for attaching; default `read`. */
  childNeeds?: string;
  /** Error text for a body without an id, if the list cannot create objects. */
  missingId?: string;
}

export type SubListFactory = (definition: ResourceDefinition, name: string) => SubListSpec;

/** A list below the objects of a resource. */
export interface DeclaredSubList {
  parent: ResourceDefinition;
  spec: SubListSpec;
}

/** Names the sub-list that a route serves. */
const OfSubList = Reflector.createDecorator<DeclaredSubList>();

/** The sub-list of the URL. */
const ThisSubList = createParamDecorator((_data: undefined, context: ExecutionContext) =>
  new Reflector().get(OfSubList, context.getHandler()),
);

/**
 * The routes of every sub-list. `@SubList` copies the routes to the controller of the parent, with the
 * name of the list instead of `:list`.
 */
abstract class SubListController implements GenericController {
  constructor(readonly services: CommonServices) {}

  @Get(':id/:list')
  async list(
    @ThisSubList() list: DeclaredSubList,
    @Target() parent: Row,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    const { services } = this;
    const { spec } = list;
    const context = linkContextOf(list, { services, actor, parent });
    const options = { ...spec.options?.(context), scope: await spec.scope(parent, context) };
    return spec.events
      ? listEvents(spec.target(), services, query, actor, { ...options, events: true })
      : services.resources.list(spec.target(), query, actor, options);
  }

  @Post(':id/:list')
  add(
    @ThisSubList() list: DeclaredSubList,
    @Target() parent: Row,
    @Body() body: Record<string, unknown>,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    const { services } = this;
    const context = linkContextOf(list, { services, actor, parent });
    return services.database.transaction(() => postToSubList(context, list.spec, body));
  }
}

/**
 * Declares `/<resource>/<id>/<name>/`. The name becomes a `related` link.
 *
 * @param factory returns rows, permission (`needs`) and effect of POST: one of those below, or of
 *   the `sublists.ts` of a feature
 */
export function SubList(
  name: string,
  factory: SubListFactory,
  { link = true, path = name }: { link?: boolean; path?: string } = {},
): ClassDecorator {
  return (target) => {
    const controller = controllerOf(target);
    const { definition: parent } = controller;
    const prototype = prototypeOf(controller);
    const spec = factory(parent, name);
    const list = OfSubList({ parent, spec });
    const source = prototypeOf(SubListController);
    copyRoute(
      { prototype, name: `${name}_list` },
      { prototype: source, name: 'list' },
      list,
      Get(`:id/${path}`),
      Route(routeOfList(parent, spec, name, link)),
    );
    if (!spec.create && !spec.attach) return;
    copyRoute(
      { prototype, name: `${name}_add` },
      { prototype: source, name: 'add' },
      list,
      Post(`:id/${path}`),
      Route(routeOfAdd(parent, spec, name)),
    );
  };
}

const routeOfList = (
  parent: ResourceDefinition,
  spec: SubListSpec,
  name: string,
  link: boolean,
): RouteInfo => ({
  kind: 'list',
  operationId: `${parent.path}_${name}_list`,
  summary: `${labelOf(name)} of one ${parent.label.toLowerCase()}.`,
  get resource() {
    return spec.target();
  },
  parent,
  ...(link ? { link: name } : {}),
  ...(spec.events ? { events: true } : {}),
});

const routeOfAdd = (parent: ResourceDefinition, spec: SubListSpec, name: string): RouteInfo => ({
  kind: spec.create ? 'create' : 'associate',
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
  openParts: (caller) => openPartsOf({ parent, spec }, caller),
  addTo: ({ parent: row, ...caller }, body) =>
    postToSubList(
      linkContextOf({ parent, spec }, { ...caller, parent: existing(row, 'a list has a parent') }),
      spec,
      body,
    ),
});

type SubListOptions<Rules> = Partial<SubListSpec<Row, Row, Rules>>;

function relationOf(definition: ResourceDefinition, name: string): Relation {
  const relation = definition.relations[name];
  if (!relation) throw new Error(`${definition.type} has no relation ${name}`);
  return relation;
}

/**
 * Declares a list of rows that reference the parent: `GET` lists the rows, `POST` creates a row below the
 * parent.
 */
export function children<Rules>(
  relationName: string,
  options: SubListOptions<Rules> & { readOnly?: boolean } = {},
): SubListFactory {
  return (definition, name) => {
    const relation = relationOf(definition, relationName);
    if (relation.kind !== 'has-many') throw new Error(`${relationName} is not has-many`);
    const { readOnly, ...rest } = options;
    return {
      ...related(relationName)(definition, name),
      ...(readOnly ? {} : { create: (parent: Row) => ({ [relation.field]: parent.id }) }),
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
      scope: ({ id }) => relationCondition(relation, sql`${id}::${raw(idType(definition))}`, 't'),
      options: () => ({ counted: countedBy(relation) }),
      ...options,
    };
  };
}

/** Declares a list of any target by an SQL condition, without a relation. */
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
  } = {},
): SubListFactory {
  return (definition, name) => {
    const relation = relationOf(definition, relationName);
    if (relation.kind !== 'many-to-many') throw new Error(`${relationName} is not many-to-many`);
    const { check, association = name, beforeDetach, ...rest } = options;
    return {
      ...related(relationName)(definition, name),
      ...(relation.ordered
        ? {
            options: ({ parent }: LinkContext) => ({
              order: [linkOrder(definition, relation, parent)],
            }),
          }
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
      },
      ...rest,
    };
  };
}

/** Returns the order in which the children were attached. */
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
  services.activity.recordLink({
    operation,
    object1: refOf(parentDefinition, parent),
    object2: refOf(relation.target(), child),
    association,
    relationship: association,
  });
}
