import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { JsonSchema } from '../common/fields/json-schema.js';
import { SESSION_COOKIE } from '../common/http/cookies.js';
import { LINES_TYPE } from '../common/http/lines.js';
import { entryOf, existing } from '../common/invariants.js';
import { namedUrlFormat } from '../common/resource/natural-key.js';
import { resources } from '../common/resource/define-resource.js';
import { componentSchemas } from '../common/resource/resource-schema.js';
import type { RouteInfo } from '../common/rest/route.js';
import { RouteTable } from '../common/rest/route-table.service.js';
import { PACKAGE_FOLDER } from '../config/version.js';
import { TAGS } from './tags.js';

/** OpenAPI version whose schemas are JSON Schema 2020-12. */
const OPENAPI_VERSION = '3.1.1';

/**
 * Builds the OpenAPI document. `SwaggerModule` generates it from the decorators of routes, whose
 * declarations also validate requests. This function adds what decorators cannot express: schemas without
 * classes, natural keys in place of an id, alternative formats of a body, and the trailing slash of paths
 * (docs/decisions/0049-openapi.md).
 */
export function buildDocument(app: INestApplication, version: string): OpenAPIObject {
  const routes = app.get(RouteTable).routes.flatMap(({ info }) => info ?? []);
  const config = documentBase(version);
  // Sorted by type, because the order of imports is arbitrary.
  const sorted = resources().toSorted((a, b) => a.type.localeCompare(b.type, 'en'));
  const schemas = { ...componentSchemas(sorted) };
  for (const { components } of routes) Object.assign(schemas, components);
  const openapi = SwaggerModule.createDocument(app, {
    ...config,
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    components: { ...config.components, schemas },
  });
  const operations = operationsById(openapi);
  for (const info of routes) {
    const operation = entryOf(operations, info.operationId);
    describeNaturalKey(operation, info);
    addLineFormats(operation, info);
    addQueryExpression(operation, info);
  }
  for (const [id, examples] of Object.entries(loadExamples())) {
    addExamples(entryOf(operations, id), examples);
  }
  return withSortedPaths(openapi);
}

const documentBase = (version: string): Omit<OpenAPIObject, 'paths'> =>
  new DocumentBuilder()
    .setOpenAPIVersion(OPENAPI_VERSION)
    .setTitle('Automation Controller')
    .setDescription('Launch, schedule and report automation. Start with `GET /api/v2/`.')
    .setVersion(version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'The server that the document was loaded from.')
    .addBearerAuth({
      type: 'http',
      bearerFormat: 'opaque',
      description: 'Access token from POST /api/v2/tokens/.',
    })
    .addBasicAuth()
    .addApiKey(
      {
        type: 'apiKey',
        in: 'cookie',
        name: SESSION_COOKIE,
        description: 'Session of POST /api/login/. Methods that change data also need X-CSRFToken.',
      },
      'session',
    )
    .build();

/** Parts of an operation that this module extends. */
interface Operation {
  operationId: string;
  parameters: {
    name: string;
    in: string;
    description?: string;
    required?: boolean;
    schema?: JsonSchema;
  }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

type Content = Record<
  string,
  { schema: JsonSchema; examples?: Record<string, { value: unknown }> }
>;

const operationsById = ({ paths }: OpenAPIObject): Map<string, Operation> =>
  new Map(
    Object.values(paths)
      .flatMap((item) => Object.values(item) as Operation[])
      .map((operation) => [operation.operationId, operation]),
  );

/**
 * Documents the natural key that can replace an id in the URL. A key refers to other resources, which are
 * all loaded by now.
 */
function describeNaturalKey({ parameters }: Operation, { parent }: RouteInfo): void {
  const key = parent && namedUrlFormat(parent);
  const id = parameters.find((parameter) => parameter.in === 'path' && parameter.name === 'id');
  if (key && id) id.description = `Id, or \`${key}\`.`;
}

/** Adds the NDJSON formats of body and response: decorators support one schema for all formats. */
function addLineFormats({ requestBody, responses }: Operation, { lines }: RouteInfo): void {
  if (!lines) return;
  const { content } = existing(requestBody, 'a route that accepts NDJSON has a body');
  content[LINES_TYPE] = { schema: lines.body };
  const progress = { description: 'Lines of progress; the last line contains the result.' };
  const response = (responses['200'] ??= progress);
  response.content = { ...response.content, [LINES_TYPE]: { schema: lines.response } };
}

/** Adds the parameter of a list's query language, which is known once all resources are loaded. */
function addQueryExpression({ parameters }: Operation, { kind, resource }: RouteInfo): void {
  if (kind !== 'list' || !resource?.expression) return;
  const { parameter: name, help: description } = resource.expression;
  parameters.push({ name, in: 'query', description, required: false, schema: { type: 'string' } });
}

const JSON_TYPE = 'application/json';

/** Adds a request that succeeds and one that is refused, with their responses. */
function addExamples({ requestBody, responses }: Operation, examples: OperationExamples): void {
  for (const [name, { request, status, response }] of Object.entries(examples)) {
    const body = requestBody?.content[JSON_TYPE];
    if (body && request !== undefined)
      body.examples = { ...body.examples, [name]: { value: request } };
    const media = responses[String(status)]?.content?.[JSON_TYPE];
    if (media && response !== undefined) media.examples = { [name]: { value: response } };
  }
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

interface Exchange {
  status: number;
  /** Absent for a request without a body. */
  request?: unknown;
  /** Absent for a response without a body. */
  response?: unknown;
}

export interface OperationExamples {
  accepted: Exchange;
  refused: Exchange;
}

type ExamplesById = Readonly<Record<string, OperationExamples>>;

/**
 * Reads the examples of frequent operations, by operation id. `test/api/openapi-examples.e2e-spec.ts` sends
 * them to the server and records the responses; `npm run build` copies the file.
 */
const loadExamples = (): ExamplesById =>
  JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'dist', 'examples.json'), 'utf8')) as ExamplesById;
