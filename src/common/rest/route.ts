import { applyDecorators, SetMetadata, UsePipes } from '@nestjs/common';
import {
  ApiBody,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  type ApiParamOptions,
} from '@nestjs/swagger';
import type { Sql } from '../../database/sql.js';
import { fieldsOf, type Field } from '../fields/field.js';
import { labelOf } from '../fields/label.js';
import type { JsonSchema, JsonSchemas } from '../fields/json-schema.js';
import type { Actor } from '../access.js';
import type { ResourceDefinition, Row } from '../resource/define-resource.js';
import { declareLink } from '../resource/links.js';
import type { CommonServices } from './common-services.service.js';
import { successResponses } from './route-answers.js';
import { errorResponses } from './route-errors.js';
import { BodyPipe } from './body.pipe.js';
import { bodyOf } from './route-body.js';
import { placeOf } from './route-place.js';
import { bodySchema, queryParameters } from './route-requests.js';

export type RouteKind =
  | 'list'
  | 'create'
  | 'retrieve'
  | 'replace'
  | 'modify'
  | 'destroy'
  | 'associate'
  | 'action'
  | 'document';

/**
 * Who may reach a route at all. Object permissions are the policy's; a route without this
 * declaration is refused (closed by default) and fails the architecture tests.
 */
export type RouteAccess = 'public' | 'authenticated' | 'signature';

/** What somebody is for the whole installation, where no object decides. Superusers are both. */
export type Standing = 'superuser' | 'auditor';

/** What a route is, for the guard, OPTIONS, `Allow`, OpenAPI, the HTML forms and the tests. */
export interface RouteInfo {
  kind: RouteKind;
  access: RouteAccess;
  /** Unique name in the OpenAPI document, `teams_list`. */
  operationId: string;
  summary: string;
  /** Resource of the answer. */
  resource?: ResourceDefinition;
  /** Resource of the `:id` in the URL. */
  parent?: ResourceDefinition;
  /** Key in `related` of the parent's objects that this URL is shown under. */
  link?: string;
  /**
   * Action of the parent's policy that the caller needs for this method. The access guard asks it,
   * and so do OPTIONS and the forms of pages. Reading, unless told otherwise.
   */
  needs?: string;
  /** What the 403 says, where the usual words would not tell enough. */
  refusal?: string;
  /** The answer has a secret in clear: a token that may only read does not get it. */
  showsSecret?: boolean;
  /** An object that a second parameter of the URL names, in a list of the parent. */
  member?: RouteMember;
  /** What the caller must be, on a route without a parent. */
  standing?: Standing;
  /**
   * What of a route that writes is open to a caller who has what it `needs`, as far as that can be
   * told before there is a body; OPTIONS and the forms of pages ask it.
   */
  opens?: (caller: Caller) => Promise<OpenParts> | OpenParts;
  /** Fields a URL shows and takes, where one route serves several documents; OPTIONS asks it. */
  fieldsAt?: (services: CommonServices, params: Readonly<Record<string, string>>) => FieldsAt;
  /** Fields of the request body, where they are not all those of the class that the handler takes. */
  body?: readonly Field[];
  /** The body may be lines too, one of `body` each; the answer then as well: JSON schemas of a line. */
  lines?: { body: Record<string, unknown>; response: Record<string, unknown> };
  /** The list takes `{id}` and `{id, disassociate}`. */
  attach?: boolean;
  /** The list understands `limit`. */
  events?: boolean;
  /** Outside `/api`: it is always there, and has one form for whatever a client accepts. */
  outsideApi?: true;
  /** Success status where it is not the usual one of the kind. */
  status?: number;
  /** The answer holds a value that is never shown again: a page shows it instead of moving on. */
  shownOnce?: boolean;
  /** JSON schema of a 2xx answer that is not a resource. */
  response?: JsonSchema;
  /** Schemas that `response` refers to by name, as those that contain themselves. */
  components?: JsonSchemas;
  /** Members a 2xx answer has besides those of the resource. */
  adds?: JsonSchemas;
  /** Answers with another status than the usual one, such as that of a dry run. */
  alternatives?: readonly AlternativeAnswer[];
  /** A body that works, for people who try the route; made from the fields where there is none. */
  example?: Record<string, unknown>;
  /** Some callers are sent elsewhere instead: 302 with `Location`. */
  redirects?: boolean;
  /** Media type of a 2xx answer that is not JSON. */
  produces?: string;
  /** Media types in which the answer is had as a text too. */
  texts?: readonly string[];
  /** Query parameters of a route that is not a list. */
  query?: readonly QueryParameter[];
}

/** An object below the one of `:id`; the handler gets its row by `@Member()`. */
export interface RouteMember {
  /** Name of the parameter in the URL. */
  param: string;
  resource: ResourceDefinition;
  /** Action of its own policy that the caller needs. */
  needs: string;
  /** Whether it is in the list of the parent; unknown there otherwise. */
  belongs: (member: Row, parent: Row) => boolean;
}

/** Undefined: there is no such document. */
export type FieldsAt = Promise<readonly Field[] | undefined> | undefined;

/** Who asks, and the object in the URL. */
export interface Caller {
  services: CommonServices;
  actor: Actor;
  parent: Row | null;
}

/** What a caller may send to a route: a body that makes or changes something, an `{id}`. */
export interface OpenParts {
  body: boolean;
  attach: boolean;
  /**
   * What a form asks for where that is not the whole `body` of the route: without what the object in
   * the URL decides, with what it asks. A name with a dot is a member of a document.
   */
  fields?: readonly Field[];
  /** What can be attached, where that is not all that the caller may read. */
  candidates?: Candidates;
  /** Whether the object in the URL takes this from nobody: its OPTIONS do not allow the method then. */
  isClosed?: true;
}

/** Objects among which one is chosen. */
export interface Candidates {
  /** The list that has them, for whoever searches in it. */
  list: string;
  /** Condition on their row. */
  scope: (alias: string) => Sql;
}

export const ALL_OPEN: OpenParts = { body: true, attach: true };
export const NOTHING_OPEN: OpenParts = { body: false, attach: false };

export interface AlternativeAnswer {
  status: number;
  description: string;
  /** JSON schema of the body; absent: there is none. */
  response?: JsonSchema;
}

export interface QueryParameter {
  name: string;
  description: string;
  /** JSON schema of its value. */
  schema: JsonSchema;
}

export const ROUTE_INFO = 'controller:route';

/**
 * Declares a route for everything that reads routes, the OpenAPI document among them. It stands above
 * the verb, whose method and path it reads:
 *
 *   @Route({ kind: 'document', access: 'authenticated', … })
 *   @Get(':id/playbooks')
 *
 * @throws BrokenInvariant when there is no verb below
 */
export const Route =
  (declared: RouteInfo): MethodDecorator =>
  (prototype, name, descriptor) => {
    const info = withBody(declared, prototype, name);
    const place = placeOf(descriptor.value, info);
    const { operationId, summary, parent, link } = info;
    if (parent && link !== undefined) declareLink(parent, link, place.belowParent || link);
    const hasBody = 'body' in info || info.attach;
    const body = hasBody ? [ApiBody({ schema: bodySchema(info) }), UsePipes(BodyPipe)] : [];
    applyDecorators(
      SetMetadata(ROUTE_INFO, info),
      ApiOperation({ operationId, summary, security: securityOf(info) }),
      ...errorResponses(info, place).map((response) => ApiResponse(response)),
      ...successResponses(info).map((response) => ApiResponse(response)),
      ...place.parameters.map((parameter) => ApiParam(pathParameter(parameter))),
      ...body,
      ...queryParameters(info).map((parameter) => ApiQuery(parameter)),
    )(prototype, name, descriptor);
  };

/** The class that a handler takes the body as says what may be in it. */
function withBody(info: RouteInfo, prototype: object, name: string | symbol): RouteInfo {
  const schema = 'body' in info ? undefined : bodyOf(prototype, name);
  return schema ? { ...info, body: fieldsOf(schema) } : info;
}

/** How a caller proves who it is: any of these. Receivers verify the sender's signature instead. */
const securityOf = ({ access }: RouteInfo): Record<string, string[]>[] =>
  access === 'authenticated' ? [{ bearer: [] }, { basic: [] }, { session: [] }] : [];

const pathParameter = (name: string): ApiParamOptions => ({
  name,
  description: `${labelOf(name)}.`,
  schema: { type: 'string' },
});
