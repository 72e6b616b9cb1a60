import {
  Body,
  createParamDecorator,
  Get,
  Post,
  SetMetadata,
  type ExecutionContext,
} from '@nestjs/common';
import type { Sql } from '../../database/sql.js';
import { superusersOnly, type Actor } from '../access.js';
import type { ProviderClass } from '../declared-providers.service.js';
import { BadRequest, DomainError, Forbidden } from '../errors/errors.js';
import { plainJson } from '../exact-json.js';
import { labelOf } from '../fields/label.js';
import { toBoolean } from '../fields/lenient-reader.js';
import { Reply } from '../http/reply.js';
import type { ListOptions } from '../list/list.service.js';
import type { Page } from '../list/page.js';
import type { QueryParameters } from '../list/query.js';
import { existing } from '../invariants.js';
import { prototypeOf } from '../records.js';
import type { ResourceDefinition, Row } from '../resource/define-resource.js';
import { isIdText } from '../resource/ids.js';
import type { Representation } from '../resource/represent.js';
import { CommonServices } from './common-services.service.js';
import { listEvents } from './event-list.js';
import type { Values } from './hooks.js';
import { metadataOf } from './route-location.js';
import { CurrentActor, ListParams, Target } from './parameters.js';
import { controllerOf, type GenericController } from './resource.controller.js';
import {
  copyRoute,
  NOTHING_OPEN,
  Route,
  type Caller,
  type Candidates,
  type OpenParts,
  type RouteInfo,
} from './route.js';

const OWNS_ITS_OBJECTS = 'This list owns its objects: delete the object instead of removing it.';

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
  authoriseCreate?(context: LinkContext<Parent, Rules>): Promise<void>;
  /** Throws for callers who lack the permission to attach any object to this list. */
  authoriseAttach?(context: LinkContext<Parent, Rules>): Promise<void>;
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
interface DeclaredSubList {
  parent: ResourceDefinition;
  spec: SubListSpec;
}

const SUB_LIST = 'controller:sub-list';

/** Names the sub-list that a route serves. */
const OfSubList = (list: DeclaredSubList): MethodDecorator => SetMetadata(SUB_LIST, list);

/** The sub-list of the URL. */
const ThisSubList = createParamDecorator((_data: undefined, context: ExecutionContext) =>
  metadataOf<DeclaredSubList>(SUB_LIST, context.getHandler()),
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
    const context = contextOf(list, { services, actor, parent });
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
    const context = contextOf(list, { services, actor, parent });
    return services.database.transaction(() => post(context, list.spec, body));
  }
}

/**
 * Declares `/<resource>/<id>/<name>/`. The name becomes a `related` link.
 *
 * @param factory returns rows, permission (`needs`) and effect of POST: one of `sublist-kinds.ts`, or of
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
  openParts: (caller) => openParts({ parent, spec }, caller),
  addTo: ({ parent: row, ...caller }, body) =>
    post(
      contextOf({ parent, spec }, { ...caller, parent: existing(row, 'a list has a parent') }),
      spec,
      body,
    ),
});

const contextOf = (
  { parent: parentDefinition, spec }: DeclaredSubList,
  request: Pick<LinkContext, 'services' | 'actor' | 'parent'>,
): LinkContext => ({
  ...request,
  parentDefinition,
  rules: request.services.providers.rulesOf(spec),
});

/** Evaluates the rules on creating and attaching that do not depend on the body. */
async function openParts(
  list: DeclaredSubList,
  { services, actor, parent }: Caller,
): Promise<OpenParts> {
  if (!parent) return NOTHING_OPEN;
  const { spec } = list;
  const context = contextOf(list, { services, actor, parent });
  const attach =
    spec.attach !== undefined && (await isPermitted(() => spec.authoriseAttach?.(context)));
  const candidates = spec.candidates ? { candidates: spec.candidates(parent) } : {};
  if (!spec.create) return { attach, body: false, ...candidates };
  const isOpen = spec.mayCreateIn?.(parent) ?? true;
  if (!isOpen && !spec.attach) return { attach, body: false, isClosed: true };
  const body = isOpen && (await isPermitted(() => assertMayCreate(context, spec)));
  const injected = new Set(Object.keys(spec.create(parent)));
  return {
    attach,
    body,
    ...candidates,
    fields: spec.target().fields.filter(({ name }) => !injected.has(name)),
  };
}

/** Returns true unless the check throws a domain error. Other errors are passed on. */
export async function isPermitted(check: () => Promise<void> | undefined): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

async function assertMayCreate(context: LinkContext, spec: SubListSpec): Promise<void> {
  const { services, parent, actor } = context;
  if (spec.authoriseCreate) return spec.authoriseCreate(context);
  const target = spec.target();
  const injected = spec.create?.(parent) ?? {};
  // If the child's rule does not depend on the parent, the body decides.
  const isUndecided =
    Object.keys(injected).length === 0 || target.policy.add?.(injected) === superusersOnly;
  if (isUndecided && !(await services.resources.mayAdd(target, actor))) throw new Forbidden();
  if (!isUndecided) await services.resources.assertMayAdd(target, injected, actor);
  await services.references.assertUsable(target, injected, actor);
}

async function post(
  context: LinkContext,
  spec: SubListSpec,
  body: Record<string, unknown>,
): Promise<object> {
  const { services, actor } = context;
  const detaching = toBoolean(body.disassociate) === true;
  if (spec.attach && (body.id !== undefined || detaching)) {
    return link(context, spec, body, detaching);
  }
  if (!spec.create) {
    throw new BadRequest(spec.missingId ?? `${spec.target().label} 'id' field is missing.`);
  }
  if (detaching) {
    throw new BadRequest(OWNS_ITS_OBJECTS);
  }
  const existingChild = await spec.existing?.(context, body);
  if (existingChild) return link(context, spec, { id: existingChild.id }, false);
  const target = spec.target();
  const injected = spec.create(context.parent);
  const { authoriseCreate } = spec;
  const row = await services.resources.create(target, body, actor, {
    injected,
    ...(authoriseCreate ? { authorise: () => authoriseCreate(context) } : {}),
  });
  await spec.attach?.(context, row);
  return services.resources.show(target, row, actor);
}

/**
 * Attaches with `{id}` and detaches with `{id, disassociate: true}`. Both return 204, also when
 * repeated.
 */
async function link(
  context: LinkContext,
  spec: SubListSpec,
  body: Record<string, unknown>,
  detaching: boolean,
): Promise<Reply> {
  const { services, actor } = context;
  const target = spec.target();
  if (detaching && !spec.detach) throw new BadRequest(OWNS_ITS_OBJECTS);
  if (body.id === undefined) throw new BadRequest('"id" is required to disassociate');
  const sentId = plainJson(body.id);
  const id = typeof sentId === 'string' && isIdText(target, sentId) ? Number(sentId) : sentId;
  if (typeof id !== 'number' || !Number.isInteger(id)) {
    throw new BadRequest('"id" field must be an integer.');
  }
  const child = await services.rows.lockForLink(target, id);
  if (!child) {
    throw new BadRequest(`${target.label.replaceAll(' ', '')} matching query does not exist.`);
  }
  const childAction = detaching ? 'read' : (spec.childNeeds ?? 'read');
  await services.references.assertAllowed(target, [id], childAction, actor);
  if (detaching) await spec.detach?.(context, child);
  else await spec.attach?.(context, child);
  return new Reply(204);
}
