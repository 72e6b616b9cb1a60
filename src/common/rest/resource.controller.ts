import {
  applyDecorators,
  Body,
  Controller,
  Delete,
  Get,
  Inject,
  Patch,
  Post,
  Put,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { ApiBasicAuth, ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { Actor, Policy } from '../access.js';
import type { Page } from '../list/page.js';
import type { QueryParameters } from '../list/query.js';
import type { ResourceDefinition, Row } from '../resource/define-resource.js';
import { orderLinks } from '../resource/links.js';
import type { Representation } from '../resource/representation.js';
import { CommonServices } from './common-services.service.js';
import type { Values } from './hooks.js';
import { CurrentActor, ListParams, Target } from './parameters.js';
import { declareInheritedRoutes, Route, type RouteInfo } from './route.js';
import { metadataOf } from './route-location.js';
import { BrokenInvariant, existing } from '../invariants.js';
import { keysOf } from '../records.js';

/** Rules of the policy that the generic handlers require: a resource without the rule lacks the handler. */
const RULES = {
  list: 'read',
  create: 'add',
  retrieve: 'read',
  replace: 'change',
  modify: 'change',
  destroy: 'delete',
} as const satisfies Record<string, keyof Policy>;
export type GenericMethod = keyof typeof RULES;

/** Instance of a resource controller, with the services that its routes use. */
export interface GenericController {
  readonly services: CommonServices;
}

export interface GenericControllerClass extends Type<GenericController> {
  readonly definition: ResourceDefinition;
}

const isGeneric = (target: object): target is GenericControllerClass => 'definition' in target;

/** Returns the class that carries a decorator for additional routes of a resource. */
export function controllerOf(target: object): GenericControllerClass {
  if (!isGeneric(target)) throw new BrokenInvariant('the decorated class is a ResourceController');
  return target;
}

const RESOURCE = 'controller:resource';

/** Returns the resource that `@Resource` names above the class of a controller. */
export const resourceOf = <Schema extends object>(controller: object): ResourceDefinition<Schema> =>
  existing(
    metadataOf<ResourceDefinition<Schema>>(RESOURCE, controller.constructor),
    'the controller has @Resource',
  );

/**
 * Creates the base class with the generic handlers of a resource. A resource differs through its hooks
 * and declarations, never by overriding a handler.
 *
 * @param methods handlers of the resource, by default all that its policy permits; others give 405
 */
export function ResourceController(
  definition: ResourceDefinition,
  methods: readonly GenericMethod[] = keysOf(RULES).filter(
    (name) => definition.policy[RULES[name]],
  ),
): GenericControllerClass {
  const routes = routesOf(definition);
  /** Declares the method as a route if the resource has it. */
  const Has = (name: GenericMethod, verb: MethodDecorator): MethodDecorator =>
    methods.includes(name) ? applyDecorators(verb, Route(routes[name])) : () => undefined;

  class Generic implements GenericController {
    static readonly definition = definition;

    @Inject() readonly services!: CommonServices;

    @Has('list', Get())
    list(
      @ListParams() query: QueryParameters,
      @CurrentActor() actor: Actor,
    ): Promise<Page<Representation>> {
      return this.services.resources.list(definition, query, actor);
    }

    @Has('create', Post())
    async create(@Body() body: Values, @CurrentActor() actor: Actor): Promise<object> {
      const { resources } = this.services;
      const row = await resources.create(definition, body, actor);
      return resources.show(definition, row, actor);
    }

    @Has('retrieve', Get(':id'))
    retrieve(@Target() row: Row, @CurrentActor() actor: Actor): Promise<Representation> {
      return this.services.resources.show(definition, row, actor);
    }

    @Has('replace', Put(':id'))
    async replace(
      @Target() row: Row,
      @Body() body: Values,
      @CurrentActor() actor: Actor,
    ): Promise<Representation> {
      const { resources } = this.services;
      const updated = await resources.update(definition, row, body, actor, { partial: false });
      return resources.show(definition, updated, actor);
    }

    @Has('modify', Patch(':id'))
    async modify(
      @Target() row: Row,
      @Body() body: Values,
      @CurrentActor() actor: Actor,
    ): Promise<Representation> {
      const { resources } = this.services;
      const updated = await resources.update(definition, row, body, actor, { partial: true });
      return resources.show(definition, updated, actor);
    }

    @Has('destroy', Delete(':id'))
    destroy(@Target() row: Row, @CurrentActor() actor: Actor): Promise<void> {
      return this.services.resources.destroy(definition, row, actor);
    }
  }
  return Generic;
}

/** Declarations of the generic routes. */
function routesOf(definition: ResourceDefinition): Record<GenericMethod, RouteInfo> {
  const { path, label, fields, policy, deletesLater } = definition;
  const lowerLabel = label.toLowerCase();
  const common = (name: GenericMethod): Pick<RouteInfo, 'kind' | 'operationId'> => ({
    kind: name,
    operationId: `${path}_${name}`,
  });
  const ofResource = (name: GenericMethod, verb: string): RouteInfo => ({
    ...common(name),
    summary: `${verb} one ${lowerLabel}.`,
    resource: definition,
  });
  const ofObject = (name: GenericMethod, verb: string): RouteInfo => ({
    ...ofResource(name, verb),
    parent: definition,
  });
  return {
    list: {
      ...common('list'),
      summary: `List ${path.replaceAll('_', ' ')}.`,
      resource: definition,
      ...(policy.listRefusal ? { systemRole: 'auditor' } : {}),
    },
    create: { ...ofResource('create', 'Create'), body: fields },
    retrieve: ofObject('retrieve', 'Show'),
    replace: { ...ofObject('replace', 'Replace'), body: fields, needs: 'change' },
    modify: { ...ofObject('modify', 'Change'), body: fields, needs: 'change' },
    destroy: {
      ...ofObject('destroy', 'Delete'),
      needs: 'delete',
      ...(policy.deleteRefusal ? { refusal: policy.deleteRefusal } : {}),
      ...(deletesLater ? { status: 202 } : {}),
    },
  };
}

/**
 * Mounts a controller at the URL of its resource: `/api/v2/<path>/`. Must stand above the `@SubList`
 * decorators so that it runs after them.
 *
 * @param path URL below the URL of the resource. A controller with inherited routes names it, so that a
 *   search for the URL finds the controller.
 */
export function Resource(
  definition: ResourceDefinition,
  path = `api/v2/${definition.path}`,
): ClassDecorator {
  if (!`${path}/`.startsWith(`api/v2/${definition.path}/`)) {
    throw new BrokenInvariant(`${path} is a URL of ${definition.path}`);
  }
  return applyDecorators(
    SetMetadata(RESOURCE, definition),
    (controller: { prototype: object }) => declareInheritedRoutes(controller, definition),
    () => orderLinks(definition),
    Controller(path),
    ApiTags(definition.path),
    ApiBearerAuth(),
    ApiBasicAuth(),
  );
}
