import type { INestApplication } from '@nestjs/common';
import {
  ApiBody,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  DocumentBuilder,
  SwaggerModule,
  type ApiParamOptions,
  type ApiResponseOptions,
  type OpenAPIObject,
} from '@nestjs/swagger';
import { withCsrfToken } from '../pages/explorer.js';
import { SESSION_COOKIE } from '../http/cookies.js';
import { LINES_TYPE } from '../http/lines.js';
import { RouteTable, type TableRoute } from '../rest/route-table.js';
import type { RouteInfo } from '../rest/route.js';
import { existing } from '../invariants.js';
import { namedUrlFormat } from '../resource/natural-key.js';
import { resources } from '../resource/registry.js';
import { ApiDocument } from './api-document.js';
import { errorResponses } from './errors.js';
import { object, STRING, type JsonSchema } from '../fields/json-schema.js';
import { bodySchema, listParameters } from './requests.js';
import { componentSchemas, pageRef, resourceRef } from './schemas.js';

export const DOCS_PATH = 'api/docs';
export const DOCUMENT_PATH = 'api/openapi.json';
/** Its schemas are JSON Schema 2020-12. */
const OPENAPI_VERSION = '3.1.1';

/** The OpenAPI document, made of the same declarations that validate requests. */
export function buildDocument(app: INestApplication, version: string): OpenAPIObject {
  const named: Record<string, JsonSchema> = {};
  for (const route of app.get(RouteTable).routes) {
    if (!route.info) continue;
    document(route, route.info);
    Object.assign(named, route.info.components);
  }
  const config = new DocumentBuilder()
    .setOpenAPIVersion(OPENAPI_VERSION)
    .setTitle('Automation Controller')
    .setDescription('Launch, schedule and report automation. Start with `GET /api/v2/`.')
    .setVersion(version)
    .addBearerAuth({ type: 'http', description: 'Access token from POST /api/v2/tokens/.' })
    .addBasicAuth()
    .addApiKey(
      {
        type: 'apiKey',
        in: 'cookie',
        name: SESSION_COOKIE,
        description:
          'Session of POST /api/login/. Methods that change something need X-CSRFToken too.',
      },
      'session',
    )
    .build();
  const openapi = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (controller, method) => `${controller}_${method}`,
  });
  openapi.components = {
    ...openapi.components,
    schemas: {
      ...openapi.components?.schemas,
      ...(componentSchemas(resources()) as object),
      ...(named as object),
    },
  };
  for (const route of app.get(RouteTable).routes) addLines(openapi, route);
  return withSortedPaths(openapi);
}

/** The second form of a body and its answer, which the decorators of Nest have no words for. */
function addLines({ paths }: OpenAPIObject, { pattern, method, info }: TableRoute): void {
  if (!info?.lines) return;
  const [, path] = Object.entries(paths).find(([one]) => one.replace(/\/$/, '') === pattern) ?? [];
  const operation = existing(
    path?.[method.toLowerCase() as 'post'],
    `the document has ${method} ${pattern}`,
  );
  const { content } = operation.requestBody as { content: Record<string, object> };
  content[LINES_TYPE] = { schema: info.lines.body };
  const answers = operation.responses as Record<string, { content?: Record<string, object> }>;
  const whole = { description: 'Progress, and in the last line the result, in lines.' };
  answers['200'] = {
    ...(answers['200'] ?? whole),
    content: { ...answers['200']?.content, [LINES_TYPE]: { schema: info.lines.response } },
  };
}

/** Serves the explorer, and hands the document over to the reference. */
export function serveDocument(app: INestApplication, build: () => OpenAPIObject): void {
  const documents = app.get(ApiDocument);
  documents.buildWith(build);
  SwaggerModule.setup(DOCS_PATH, app, () => documents.get(), {
    jsonDocumentUrl: DOCUMENT_PATH,
    customSiteTitle: 'Automation Controller API',
    customfavIcon: '/static/favicon.svg',
    swaggerOptions: {
      persistAuthorization: true,
      docExpansion: 'none',
      filter: true,
      requestInterceptor: withCsrfToken,
    },
  });
}

function withSortedPaths(openapi: OpenAPIObject): OpenAPIObject {
  const paths = Object.entries(openapi.paths)
    .map(
      ([path, item]) =>
        [path.endsWith('/') || path.includes('.') ? path : `${path}/`, item] as const,
    )
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...openapi, paths: Object.fromEntries(paths) };
}

/** Applies the operation's decorators; done here because references resolve only after loading. */
function document(route: TableRoute, info: RouteInfo): void {
  const descriptor = Object.getOwnPropertyDescriptor(route.prototype, route.name);
  if (!descriptor) return;
  const apply = (decorator: MethodDecorator): void => {
    decorator(route.prototype, route.name, descriptor);
  };
  const status = info.status ?? defaultStatus(info);
  const { operationId, summary } = info;
  apply(ApiOperation({ operationId, summary, security: securityOf(info) }));
  for (const response of errorResponses(info, route)) apply(ApiResponse(response));
  apply(ApiResponse(answer(info, status, summary, status === 204 ? null : responseSchema(info))));
  for (const other of info.alternatives ?? []) {
    apply(ApiResponse(answer(info, other.status, other.description, other.response ?? null)));
  }
  if (info.attach && status !== 204) {
    apply(ApiResponse({ status: 204, description: 'Attached or detached.' }));
  }
  if (info.redirects) apply(ApiResponse({ status: 302, description: 'Elsewhere.' }));
  for (const [, name = ''] of route.pattern.matchAll(/:(\w+)/g))
    apply(ApiParam(parameterOf(name, info)));
  if (info.body || info.attach) apply(ApiBody({ schema: bodySchema(info) as never }));
  const parameters = info.kind === 'list' ? listParameters(info) : (info.query ?? []);
  for (const parameter of parameters) apply(ApiQuery({ required: false, ...parameter } as never));
}

/** How a caller proves who it is: any of these. Receivers verify the sender's signature instead. */
const securityOf = ({ access }: RouteInfo): Record<string, string[]>[] =>
  access === 'authenticated' ? [{ bearer: [] }, { basic: [] }, { session: [] }] : [];

function parameterOf(name: string, info: RouteInfo): ApiParamOptions {
  const key = name === 'id' && info.parent ? namedUrlFormat(info.parent) : null;
  const description = key ? `Id, or ${key}.` : `${name.replace(/^./, (one) => one.toUpperCase())}.`;
  return { name, required: true, description, schema: { type: 'string' } };
}

function defaultStatus(info: RouteInfo): number {
  if (info.kind === 'create') return 201;
  return info.kind === 'destroy' || info.kind === 'associate' ? 204 : 200;
}

function responseSchema(info: RouteInfo): JsonSchema | null {
  if (info.response) return info.response;
  if (info.kind === 'destroy' || info.kind === 'associate' || !info.resource) return null;
  if (info.kind === 'list') return pageRef(info.resource);
  const shown = resourceRef(info.resource);
  return info.adds ? { allOf: [shown, object(info.adds)] } : shown;
}

function answer(
  { produces = 'application/json', texts = [] }: RouteInfo,
  status: number,
  description: string,
  schema: JsonSchema | null,
): ApiResponseOptions {
  if (!schema) return { status, description };
  const content: Record<string, { schema: never }> = { [produces]: { schema: schema as never } };
  for (const media of texts) content[media] = { schema: STRING as never };
  return { status, description, content };
}
