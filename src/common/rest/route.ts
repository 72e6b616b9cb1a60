import { applyDecorators, SetMetadata, UsePipes } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import {
  ApiBody,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  type ApiParamOptions,
} from '@nestjs/swagger';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { Sql } from '../../database/sql.js';
import { fieldsOf, type Field, isSchema, type SchemaClass } from '../fields/field.js';
import { labelOf } from '../fields/label.js';
import type { JsonSchema, JsonSchemas } from '../fields/json-schema.js';
import type { Actor } from '../access.js';
import type { ResourceDefinition, Row } from '../resource/define-resource.js';
import { declareLink } from '../resource/links.js';
import type { ProviderClass } from '../declared-providers.service.js';
import type { CommonServices } from './common-services.service.js';
import { errorResponses, successResponses } from './route-responses.js';
import type { GenericMethod } from './resource.controller.js';
import { BrokenInvariant, entryOf } from '../invariants.js';
import { memberOf, prototypeOf } from '../records.js';
import { metadataOf, locationOf } from './route-location.js';
import { BodyPipe } from './body.pipe.js';
import { bodySchema, queryParameters } from './route-requests.js';

/** Describes an operation for the OpenAPI document: required permission, and what its kind implies. */
const descriptionOf = (info: RouteInfo): string => [permissionOf(info), ...notesOn(info)].join(' ');

/** Describes the permission that a route requires. */
export function permissionOf(info: RouteInfo): string {
  const { access, sender, systemRole, parent, kind, needs } = info;
  if (access === 'public') return 'Needs no credentials.';
  if (access === 'signature') {
    return `Authenticated by ${sender ?? 'the key of the template'}, not by a user.`;
  }
  if (systemRole === 'superuser') return 'For superusers.';
  if (systemRole === 'auditor') return 'For superusers and system auditors.';
  if (parent)
    return `Requires \`${needs ?? 'read'}\` permission on the ${parent.label.toLowerCase()}.`;
  if (kind === 'list') return 'Returns the objects that the caller can read.';
  if (kind === 'create') return 'Requires permission on the objects that the body refers to.';
  return 'For any authenticated caller.';
}

function notesOn({ kind, attach, shownOnce, showsSecret, status, isDone }: RouteInfo): string[] {
  return [
    kind === 'list' ? 'Supports paging, filters, search and ordering.' : null,
    attach
      ? 'A body of `{"id": 1}` attaches an existing object, and `{"id": 1, "disassociate": true}` removes it.'
      : null,
    kind === 'replace'
      ? 'Fields that the body leaves out get their defaults; secrets keep their values.'
      : null,
    kind === 'modify' ? 'Fields that the body leaves out keep their values.' : null,
    shownOnce ? 'The response shows a secret, which no later request can read.' : null,
    showsSecret ? 'The response contains a secret, so tokens with scope `read` are refused.' : null,
    status === 202 && !isDone ? 'The work is done after the response.' : null,
  ].filter((note) => note !== null);
}

/** Metadata that the framework stores about the decorated parameters of a handler, by kind and index. */
type Arguments = Readonly<Record<string, { index: number }>>;

/** Returns the class of the handler's body parameter: `@Body() body: ResendRange`. */
function bodyClassOf(prototype: object, name: string | symbol): SchemaClass | undefined {
  const parameters = metadataOf<Arguments>(ROUTE_ARGS_METADATA, prototype.constructor, name) ?? {};
  const types = metadataOf<readonly unknown[]>('design:paramtypes', prototype, name) ?? [];
  const [body] = Object.entries(parameters).flatMap(([key, { index }]) =>
    key.startsWith(`${RouteParamtypes.BODY}:`) ? [types[index]] : [],
  );
  return isSchema(body) ? body : undefined;
}

export type RouteKind = GenericMethod | 'associate' | 'action' | 'document';

/** Kinds of routes that do not declare one, by HTTP method. */
const KIND_OF_METHOD: ReadonlyMap<string, RouteKind> = new Map([
  ['GET', 'document'],
  ['POST', 'action'],
  ['PUT', 'replace'],
  ['PATCH', 'modify'],
  ['DELETE', 'destroy'],
]);

/**
 * Access level of a route. Permissions on objects are decided by the policy. A handler without `@Route` is
 * refused and fails the architecture tests.
 */
export type RouteAccess = 'public' | 'authenticated' | 'signature';

/** Role of a user in the whole installation, for routes without an object. Superusers have both. */
export type SystemRole = 'superuser' | 'auditor';

/** Declaration of a route for the guard, OPTIONS, `Allow`, OpenAPI, the HTML forms and the tests. */
export interface RouteInfo {
  /** Default: that of the HTTP method in `KIND_OF_METHOD`, which `@Route` fills in. */
  kind?: RouteKind;
  /** Default: `authenticated`, which `@Route` fills in. */
  access?: RouteAccess;
  /** Proof of the sender, if the `access` is `signature`. Default: the key of the template. */
  sender?: string;
  /** Unique name in the OpenAPI document, for example `teams_list`. */
  operationId: string;
  summary: string;
  /** Resource of the response. */
  resource?: ResourceDefinition;
  /** Resource of the `:id` in the URL. */
  parent?: ResourceDefinition;
  /** Key of this URL in `related` of the parent's objects. */
  link?: string;
  /**
   * Action of the parent's policy that the caller needs for this method; default `read`. Used by the
   * access guard, OPTIONS and the forms of pages.
   */
  needs?: string;
  /** Text of the 403 response, if the default text is not specific enough. */
  refusal?: string;
  /**
   * True if the response contains a secret in clear text. A read-only token does not receive the secret.
   */
  showsSecret?: boolean;
  /** True if a response with 202 follows the work, where existing clients expect this status. */
  isDone?: true;
  /** Object that a second parameter of the URL names, in a list of the parent. */
  member?: RouteMember;
  /** System role that the caller needs, on a route without a parent. */
  systemRole?: SystemRole;
  /**
   * Returns the parts of a writing route that are open to a caller who has the action in `needs`, as far
   * as they are known before the body is read. Used by OPTIONS and the forms of pages.
   */
  openParts?(caller: Caller): Promise<OpenParts> | OpenParts;
  /**
   * Does what a POST to a list below an object does, for forms that save a list with its object.
   */
  addTo?(caller: Caller, body: Record<string, unknown>): Promise<object>;
  /**
   * Returns the fields that a URL shows and accepts, if one route serves several documents. Used by
   * OPTIONS.
   */
  fieldsAt?(rules: unknown, params: Readonly<Record<string, string>>): FieldsAt;
  /** Provider that `openParts`, in its caller, and `fieldsAt` receive as `rules`. */
  rules?: ProviderClass;
  /** Fields of the request body, if they are not all fields of the handler's body class. */
  body?: readonly Field[];
  /**
   * JSON schemas of one line, for a route that accepts an NDJSON body, one `body` per line, and then can
   * also return NDJSON.
   */
  lines?: { body: Record<string, unknown>; response: Record<string, unknown> };
  /** True if the list accepts `{id}` and `{id, disassociate}`. */
  attach?: boolean;
  /** True if the list supports `limit`. */
  events?: boolean;
  /** Marks a route outside `/api`, which always exists and has one format regardless of `Accept`. */
  outsideApi?: true;
  /**
   * True if users of a session can send the request before they have set up a required second factor.
   */
  isBeforeSecondFactor?: true;
  /** Success status, if it differs from the usual status of the kind. */
  status?: number;
  /**
   * True if the response contains a value that is shown only once: a page displays it instead of
   * redirecting.
   */
  shownOnce?: boolean;
  /** JSON schema of a 2xx response that is not a resource. */
  response?: JsonSchema;
  /** Schemas that `response` references by name, for example recursive ones. */
  components?: JsonSchemas;
  /** Members of a 2xx response in addition to those of the resource. */
  adds?: JsonSchemas;
  /** Responses with other success statuses, such as that of a dry run. */
  alternatives?: readonly AlternativeResponse[];
  /** Valid example body for the documentation; generated from the fields by default. */
  example?: Record<string, unknown>;
  /** True if some callers are redirected: 302 with `Location`. */
  redirects?: boolean;
  /** Media type of a 2xx response that is not JSON. */
  produces?: string;
  /** Media types of alternative text representations of the response. */
  texts?: readonly string[];
  /** Query parameters of a route that is not a list. */
  query?: readonly QueryParameter[];
}

/** Returns a route outside `/api` that requires no login. */
export const publicRoute = (
  operationId: string,
  summary: string,
  response: JsonSchema,
): RouteInfo => ({
  access: 'public',
  outsideApi: true,
  operationId,
  summary,
  response,
});

/** Object below the object of `:id`. The handler receives the row of the member through `@Member()`. */
export interface RouteMember {
  /** Name of the parameter in the URL. */
  param: string;
  resource: ResourceDefinition;
  /** Action of the member's own policy that the caller needs. */
  needs: string;
  /** True if the member is in the parent's list. The response is 404 otherwise. */
  belongs: (member: Row, parent: Row) => boolean;
}

/** Fields of a document; undefined if the document does not exist. */
export type FieldsAt = Promise<readonly Field[] | undefined> | undefined;

/** Caller of a route, and the object in the URL. */
export interface Caller<Rules = unknown> {
  services: CommonServices;
  actor: Actor;
  parent: Row | null;
  /** Provider that the declaration of the route names as its `rules`. */
  rules: Rules;
}

/**
 * Parts of a route that are open to a caller: a body that creates or changes an object, and an `{id}` to
 * attach.
 */
export interface OpenParts {
  body: boolean;
  attach: boolean;
  /**
   * Fields of a form, if they differ from the whole `body` of the route: without the fields that the
   * object in the URL determines, and with the fields that it requests. A name with a dot is a member of
   * a document.
   */
  fields?: readonly Field[];
  /** Objects that can be attached, if they are not all objects that the caller can read. */
  candidates?: Candidates;
  /**
   * Set if the object in the URL rejects this request from every caller. OPTIONS then omits the method.
   */
  isClosed?: true;
}

/** Set of objects that a user can choose from. */
export interface Candidates {
  /** Path of the list that contains the objects, for searching. */
  list: string;
  /** SQL condition on the row of an object. */
  scope: (alias: string) => Sql;
}

export const ALL_OPEN: OpenParts = { body: true, attach: true };
export const NOTHING_OPEN: OpenParts = { body: false, attach: false };

export interface AlternativeResponse {
  status: number;
  description: string;
  /** JSON schema of the body; absent if there is no body. */
  response?: JsonSchema;
}

export interface QueryParameter {
  name: string;
  description: string;
  schema: JsonSchema;
}

export const ROUTE_INFO = 'controller:route';
const ROUTE_OF_RESOURCE = 'controller:route-of-resource';

/** Declaration of a route that several resources have: `@Resource` fills in its resource. */
type RouteOfResource = (definition: ResourceDefinition) => RouteInfo;

/**
 * Declares a route for all consumers of route metadata, including the OpenAPI document. The decorator
 * must stand above the HTTP method decorator, whose method and path it reads:
 *
 *   @Route({ parent: projects, … })
 *   @Get(':id/playbooks')
 *
 * The caller must be authenticated, unless the declaration has the `access` `public` or `signature`.
 *
 * In an abstract controller that several resources extend, the declaration is a function of the resource:
 *
 *   @Route((templates) => ({ parent: templates, … }))
 *
 * @throws BrokenInvariant if there is no HTTP method decorator below
 */
export const Route =
  (declared: RouteInfo | RouteOfResource): MethodDecorator =>
  (prototype, name, descriptor) => {
    if (typeof declared === 'function') {
      SetMetadata(ROUTE_OF_RESOURCE, declared)(prototype, name, descriptor);
      return;
    }
    // Set in place: a copy would call getters of the declaration before their resources are defined.
    declared.access ??= 'authenticated';
    const location = locationOf(descriptor.value, declared);
    declared.kind ??= entryOf(KIND_OF_METHOD, location.method);
    const info = withBody(declared, prototype, name);
    const { operationId, summary, parent, link } = info;
    if (parent && link !== undefined) declareLink(parent, link, location.belowParent || link);
    const hasBody = 'body' in info || info.attach;
    const body = hasBody ? [ApiBody({ schema: bodySchema(info) }), UsePipes(BodyPipe)] : [];
    applyDecorators(
      SetMetadata(ROUTE_INFO, info),
      ApiOperation({
        operationId,
        summary,
        description: descriptionOf(info),
        security: securityOf(info),
      }),
      ...errorResponses(info, location).map((response) => ApiResponse(response)),
      ...successResponses(info).map((response) => ApiResponse(response)),
      ...location.parameters.map((parameter) => ApiParam(pathParameter(parameter))),
      ...body,
      ...queryParameters(info).map((parameter) => ApiQuery(parameter)),
    )(prototype, name, descriptor);
  };

/** Adds the fields of the handler's body class, unless the declaration has its own `body`. */
function withBody(info: RouteInfo, prototype: object, name: string | symbol): RouteInfo {
  const schema = 'body' in info ? undefined : bodyClassOf(prototype, name);
  return schema ? { ...info, body: fieldsOf(schema) } : info;
}

/**
 * Returns the alternative authentication schemes of a route. Routes with the `access`
 * `signature` verify their senders themselves.
 */
const securityOf = ({ access }: RouteInfo): Record<string, string[]>[] =>
  access === 'authenticated' ? [{ bearer: [] }, { basic: [] }, { session: [] }] : [];

const pathParameter = (name: string): ApiParamOptions => ({
  name,
  description: `${labelOf(name)}.`,
  schema: { type: 'string' },
});

/**
 * Declares the inherited routes of a controller whose declarations are functions of the resource.
 */
export function declareInheritedRoutes(
  controller: { prototype: object },
  definition: ResourceDefinition,
): void {
  const prototype = prototypeOf(controller);
  for (const name of new MetadataScanner().getAllMethodNames(prototype)) {
    const inherited: unknown = memberOf(prototype, name);
    if (typeof inherited !== 'function') continue;
    const declared = metadataOf<RouteOfResource>(ROUTE_OF_RESOURCE, inherited);
    const method = { prototype, name };
    if (declared) copyRoute(method, method, Route(declared(definition)));
  }
}

interface Method {
  prototype: object;
  name: string;
}

/**
 * Gives a controller a copy of a route of another class, or of its base class, with further decorators.
 * Metadata of a route is stored on its method, so each controller needs a method of its own.
 */
export function copyRoute(to: Method, from: Method, ...decorators: MethodDecorator[]): void {
  const original = memberOf(from.prototype, from.name);
  if (typeof original !== 'function') throw new BrokenInvariant(`${from.name} is a method`);
  const copy = function (this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(original, this, args);
  };
  for (const key of Reflect.getMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, original), copy);
  }
  const parameters = metadataOf(ROUTE_ARGS_METADATA, from.prototype.constructor, from.name);
  Reflect.defineMetadata(ROUTE_ARGS_METADATA, parameters, to.prototype.constructor, to.name);
  const descriptor = { value: copy, writable: true, configurable: true, enumerable: false };
  Object.defineProperty(copy, 'name', { value: to.name });
  Object.defineProperty(to.prototype, to.name, descriptor);
  for (const decorate of decorators) decorate(to.prototype, to.name, descriptor);
}
