import { RequestMethod, type Type } from '@nestjs/common';
import type { ApiRequest } from '../http/request.js';
import { Reply } from '../http/reply.js';
import { addRoute } from './add-route.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { Machinery } from './machinery.js';

export type GenericMethod = 'list' | 'create' | 'retrieve' | 'replace' | 'modify' | 'destroy';

const ALL: readonly GenericMethod[] = [
  'list',
  'create',
  'retrieve',
  'replace',
  'modify',
  'destroy',
];

/** What every resource controller is: its definition, and the machinery its routes call. */
export interface GenericController {
  readonly machinery: Machinery;
}

export interface GenericControllerClass extends Type<GenericController> {
  readonly definition: ResourceDefinition;
}

type Handler = (this: GenericController, request: ApiRequest) => Promise<unknown>;

/**
 * Base class with the generic handlers of a resource. A resource differs through its hooks and
 * declarations, never by overriding a handler.
 *
 * @param methods handlers the resource has; others answer 405
 */
export function ResourceController(
  definition: ResourceDefinition,
  methods: readonly GenericMethod[] = ALL,
): GenericControllerClass {
  class Generic implements GenericController {
    static readonly definition = definition;
    constructor(readonly machinery: Machinery) {}
  }
  Reflect.defineMetadata('design:paramtypes', [Machinery], Generic);
  for (const name of methods) declareHandler(Generic, definition, name);
  return Generic;
}

const HANDLERS: Record<GenericMethod, (definition: ResourceDefinition) => Handler> = {
  list: (definition) =>
    function (request) {
      return this.machinery.resources.list(definition, request.query, request.actor);
    },
  create: (definition) =>
    async function (request) {
      const { resources } = this.machinery;
      const row = await resources.create(definition, request.body, request.actor);
      return Reply.created(await resources.show(definition, row, request.actor));
    },
  retrieve: (definition) =>
    function (request) {
      return this.machinery.resources.retrieve(definition, request.params.id, request.actor);
    },
  replace: (definition) => updater(definition, false),
  modify: (definition) => updater(definition, true),
  destroy: (definition) =>
    async function (request) {
      const { resources } = this.machinery;
      const reply = await resources.destroy(definition, request.params.id, request.actor);
      return reply ?? Reply.noContent();
    },
};

function updater(definition: ResourceDefinition, partial: boolean): Handler {
  return async function ({ params, body, actor }) {
    const { resources } = this.machinery;
    const row = await resources.update(definition, params.id, body, actor, { partial });
    return resources.show(definition, row, actor);
  };
}

const VERBS: Record<GenericMethod, readonly [RequestMethod, string, string]> = {
  list: [RequestMethod.GET, '', 'List'],
  create: [RequestMethod.POST, '', 'Create'],
  retrieve: [RequestMethod.GET, ':id', 'Show'],
  replace: [RequestMethod.PUT, ':id', 'Replace'],
  modify: [RequestMethod.PATCH, ':id', 'Change'],
  destroy: [RequestMethod.DELETE, ':id', 'Delete'],
};

function declareHandler(target: Type, definition: ResourceDefinition, name: GenericMethod): void {
  const [method, path, verb] = VERBS[name];
  const label = definition.label.toLowerCase();
  const isDetail = path !== '';
  const writes = name === 'create' || name === 'replace' || name === 'modify';
  addRoute(target, name, {
    method,
    path,
    info: {
      kind: name,
      access: 'authenticated',
      operationId: `${definition.path}_${name}`,
      summary: isDetail || name === 'create' ? `${verb} one ${label}.` : `${verb} of ${label}s.`,
      resource: definition,
      ...(isDetail ? { parent: definition } : {}),
      ...(writes ? { body: definition.fields } : {}),
      ...(name === 'replace' || name === 'modify' ? { needs: 'change' } : {}),
      ...(name === 'destroy' ? { needs: 'delete' } : {}),
      ...(name === 'destroy' && definition.deletesLater ? { status: 202 } : {}),
    },
    handler: HANDLERS[name](definition) as (request: ApiRequest) => Promise<unknown>,
  });
}
