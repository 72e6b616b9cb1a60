/**
 * The OpenAPI document is complete and valid, so that clients can be generated from it and tests can fuzz by
 * it.
 */
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { boot, type TestApp } from '../support/boot.js';
import {
  operationsOf,
  type JsonSchema,
  type OpenApiDocument,
  type Operation,
} from '../support/openapi.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples } from '../support/samples.js';

let test: TestApp;
let document: OpenApiDocument;
let operations: Operation[];

beforeAll(async () => {
  test = await boot();
  document = (await test.as.anonymous.get('/api/openapi.json').expect(200)).body as OpenApiDocument;
  operations = operationsOf(document);
}, 30_000);
afterAll(() => test.close());

const named = (which: (operation: Operation) => boolean): string[] =>
  operations.filter(which).map(({ method, path }) => `${method} ${path}`);

it('a public validator accepts the document', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
});

it('the document is OpenAPI 3.1 with schemas of JSON Schema 2020-12', () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  // Keywords of 3.0, which the validator of schemas ignores instead of rejecting.
  expect(JSON.stringify(document)).not.toMatch(/"nullable":|"example":/);
  // Strict by default: an unknown keyword is an error.
  const ajv = new Ajv2020({ logger: false }).addVocabulary(['components']);
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'document', components: document.components });
  const schemas = [
    ...Object.keys(document.components.schemas).map((name) => ({
      $ref: `#/components/schemas/${name}`,
    })),
    ...operations.flatMap(({ parameters, requestBody, responses }) => [
      ...parameters.map(({ schema }) => schema),
      ...[requestBody, ...Object.values(responses)].flatMap((one) =>
        Object.values(one?.content ?? {}).map(({ schema }) => schema),
      ),
    ]),
  ];
  const texts = new Set(
    schemas.map((schema) =>
      JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'),
    ),
  );
  const refused = [...texts].flatMap((text) => {
    try {
      ajv.compile(JSON.parse(text) as object);
      return [];
    } catch (error) {
      return [`${(error as Error).message}: ${text.slice(0, 200)}`];
    }
  });
  expect(refused).toEqual([]);
});

it('idempotent requests declare the Idempotency-Key', () => {
  const keyed = operations
    .filter(({ parameters }) =>
      parameters.some(({ name, in: place }) => name === 'Idempotency-Key' && place === 'header'),
    )
    .map(({ operationId }) => operationId);
  expect(keyed).toEqual(
    expect.arrayContaining(['job_template_launch', 'bulk_job_launch', 'bulk_host_create']),
  );
  expect(keyed).not.toContain('jobs_list');
});

it('example bodies match the routes', () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const bodies = operations.flatMap(({ operationId, requestBody }) =>
    Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
      ((schema?.examples ?? []) as unknown[]).map((example) => ({ operationId, schema, example })),
    ),
  );
  expect(bodies.length).toBeGreaterThan(100);
  const wrong = bodies.filter(({ schema, example }) => !ajv.validate(schema!, example));
  expect(wrong.map(({ operationId, example }) => ({ operationId, example }))).toEqual([]);
});

it('the creation of a credential requires an owner', () => {
  const create = operations.find(({ operationId }) => operationId === 'credentials_create')!;
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const check = ajv.compile(create.requestBody!.content['application/json']!.schema!);
  const least = { name: 'Key', credential_type: 1 };
  expect(check(least)).toBe(false);
  expect(check({ ...least, user: null, team: null, organization: null })).toBe(false);
  for (const owner of ['user', 'team', 'organization']) {
    expect(check({ ...least, [owner]: 1 })).toBe(true);
    expect(check({ ...least, user: null, [owner]: 1 })).toBe(true);
  }
});

it('nullable and constant values are declared', () => {
  expect(document.components.schemas.Project?.properties).toMatchObject({
    organization: { type: ['integer', 'null'] },
    last_updated: { type: ['string', 'null'], format: 'date-time' },
    type: { const: 'project' },
  });
});

it('the document contains every route', () => {
  const routes = test.app
    .get(RouteTable, { strict: false })
    .routes.filter(({ info }) => info !== undefined)
    .map(({ method, pattern }) => {
      const path = pattern.replaceAll(/:(\w+)/g, '{$1}');
      return `${method} ${path.endsWith('/') || path.includes('.') ? path : `${path}/`}`;
    });
  expect(named(() => true).sort()).toEqual(routes.sort());
});

it('operation ids are unique', () => {
  const ids = operations.map(({ operationId }) => operationId);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(named(({ operationId }) => !/^[a-z][a-z0-9_]*$/.test(operationId))).toEqual([]);
});

it('every operation describes its effect and the required permissions', () => {
  expect(named(({ summary }) => !summary)).toEqual([]);
  expect(named(({ description }) => !description)).toEqual([]);
  expect(named(({ security }) => !Array.isArray(security))).toEqual([]);
  const schemes = new Set(Object.keys(document.components.securitySchemes));
  const unknown = ({ security }: Operation): boolean =>
    security.flatMap((one) => Object.keys(one)).some((name) => !schemes.has(name));
  expect(named(unknown)).toEqual([]);
});

it('the endpoints for applications are authenticated by the application', () => {
  const described = operations
    .filter(({ operationId }) => ['o_token', 'o_revoke_token'].includes(operationId))
    .map(({ description }) => description);
  expect(described).toHaveLength(2);
  for (const text of described) expect(text).toContain('by the id of the application');
});

it('angle brackets are written as code, because explorers read them as HTML', () => {
  const text = JSON.stringify(document);
  const descriptions = [...text.matchAll(/"(?:description|summary)":"((?:[^"\\]|\\.)*)"/g)].map(
    ([, description = '']) => description,
  );
  const outsideCode = descriptions.map((description) => description.replaceAll(/`[^`]*`/g, ''));
  expect(outsideCode.filter((rest) => rest.includes('<'))).toEqual([]);
  expect(descriptions).toContain('Id, or `<name>++<organization.name>`.');
});

it('access tokens are described as opaque', () => {
  expect(document.components.securitySchemes.bearer).toMatchObject({ bearerFormat: 'opaque' });
});

/** Operations whose response has a status and no body. */
const WITHOUT_BODY = [
  // Same as the reference product.
  'POST /api/v2/settings/logging/test/',
  'GET /',
  // Responses that redirect to another page.
  'GET /api/login/code/',
  'POST /second-factor/passkeys/remove/',
  // A custom logo is a file of the pages.
  'GET /logo/',
  'DELETE /api/v2/inventories/{id}/',
  'DELETE /api/v2/constructed_inventories/{id}/',
  // Redirects for a host that an update copied from an input inventory: its facts belong to the original.
  'GET /api/v2/hosts/{id}/ansible_facts/',
  'POST /api/v2/job_templates/{id}/survey_spec/',
  'DELETE /api/v2/job_templates/{id}/survey_spec/',
  'POST /api/v2/workflow_job_templates/{id}/survey_spec/',
  'DELETE /api/v2/workflow_job_templates/{id}/survey_spec/',
  'POST /api/v2/jobs/{id}/cancel/',
  'POST /api/v2/project_updates/{id}/cancel/',
  'POST /api/v2/system_jobs/{id}/cancel/',
  'POST /api/v2/inventory_updates/{id}/cancel/',
  'POST /api/v2/ad_hoc_commands/{id}/cancel/',
  'POST /api/v2/workflow_jobs/{id}/cancel/',
];

it('every response has a type', () => {
  const untyped = (success: boolean) => (operation: Operation) =>
    Object.entries(operation.responses).some(
      ([status, { content = {} }]) =>
        Number(status) < 400 === success &&
        status !== '204' &&
        !Object.values(content).some(({ schema }) => schema !== undefined),
    );
  expect(named(untyped(true)).sort()).toEqual([...WITHOUT_BODY].sort());
  expect(named(untyped(false))).toEqual([]);
});

/** Returns the places of a schema that permit any value without a documented type. */
function untypedIn(schema: JsonSchema, place: string): string[] {
  const { properties = {}, items, additionalProperties, anyOf = [], allOf = [] } = schema as Nested;
  const inner = [
    ...Object.entries(properties).map(([name, one]) => [one, `${place}.${name}`] as const),
    ...[...anyOf, ...allOf].map((one) => [one, place] as const),
    ...(items ? [[items, `${place}[]`] as const] : []),
    ...(typeof additionalProperties === 'object'
      ? [[additionalProperties, `${place}.*`] as const]
      : []),
  ];
  const isKnown = ['type', '$ref', 'anyOf', 'allOf'].some((key) => key in schema);
  const isAnyObject =
    additionalProperties === true ||
    (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length === 0);
  const isFree = !isKnown || (isAnyObject && Object.keys(properties).length === 0);
  if (isFree) return schema.description ? [] : [place];
  return inner.flatMap(([one, where]) => untypedIn(one, where));
}

interface Nested {
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  additionalProperties?: boolean | JsonSchema;
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
}

it('no value of a response is without a type or a description', () => {
  const components = Object.entries(document.components.schemas);
  expect(components.flatMap(([name, schema]) => untypedIn(schema, name))).toEqual([]);
  const answers = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.values(content).map(({ schema }) => [schema!, `${operationId} ${status}`] as const),
    ),
  );
  expect(answers.flatMap(([schema, place]) => untypedIn(schema, place))).toEqual([]);
});

it('every parameter and every body has a type', () => {
  expect(named(({ parameters }) => parameters.some(({ schema }) => !schema))).toEqual([]);
  const isUntyped = ({ requestBody }: Operation): boolean =>
    requestBody !== undefined &&
    Object.values(requestBody.content).some(({ schema }) => schema === undefined);
  expect(named(isUntyped)).toEqual([]);
  const writes = named(
    ({ method, requestBody }) => ['PUT', 'PATCH'].includes(method) && !requestBody,
  );
  expect(writes).toEqual([]);
});

it('every body field, parameter and group of operations has a description', () => {
  const bodies = operations.flatMap(({ operationId, requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((body) =>
      Object.values(body?.content ?? {}).map(({ schema }) => [operationId, schema!] as const),
    ),
  );
  const undescribed = [...Object.entries(document.components.schemas), ...bodies].flatMap(
    ([place, { properties = {} }]: readonly [string, Nested]) =>
      Object.entries(properties)
        .filter(([, { description }]) => !description)
        .map(([name]) => `${place}.${name}`),
  );
  expect(undescribed).toEqual([]);
  expect(named(({ parameters }) => parameters.some((one) => !one.description))).toEqual([]);
  const groups = new Set(operations.flatMap(({ tags }) => tags));
  expect(document.tags.map(({ name }) => name).sort()).toEqual([...groups].sort());
});

it('every operation lists its errors', () => {
  const secured = ({ security }: Operation): boolean => security.length > 0;
  expect(named((one) => secured(one) && !('401' in one.responses))).toEqual([]);
  expect(named((one) => secured(one) && !('403' in one.responses))).toEqual([]);
  expect(named((one) => one.path.includes('{id}') && !('404' in one.responses))).toEqual([]);
  expect(named((one) => one.requestBody !== undefined && !('400' in one.responses))).toEqual([]);
  expect(named(({ responses }) => !('429' in responses && '503' in responses))).toEqual([]);
});

/**
 * Parameters that need no documentation: `format`, which every URL has, and `then`, which JavaScript reads.
 */
const NO_PARAMETERS = new Set(['format', 'then']);

/** Sends requests, and returns by operation the parameters that the product read from them. */
async function parametersRead(asked: readonly TableRoute[]): Promise<Map<string, Set<string>>> {
  const http = test.app.getHttpAdapter().getInstance();
  const parse = http.get('query parser fn') as (text: string) => object;
  const found = new Map<string, Set<string>>();
  let read = new Set<string>();
  const noting = (text: string): object =>
    new Proxy(parse(text), {
      get: (target, name) => {
        if (typeof name === 'string') read.add(name);
        return Reflect.get(target, name) as unknown;
      },
    });
  http.set('query parser', noting);
  try {
    const samples = new Samples(test);
    for (const route of asked) {
      const path = await samples.pathOf(route);
      const body = await bodyOf(samples, route);
      read = new Set();
      await (route.method === 'POST'
        ? test.as.superuser.post(path, body)
        : test.as.superuser.get(path));
      found.set(route.info!.operationId, read);
    }
  } finally {
    http.set('query parser', parse);
  }
  return found;
}

it.each(['GET', 'POST'])(
  '%s declares all its parameters, and for lists no others',
  async (method) => {
    const { routes } = test.app.get(RouteTable, { strict: false });
    const asked = routes.filter(
      ({ method: own, info }) =>
        own === method &&
        info?.access === 'authenticated' &&
        !/stream|logout/.test(info.operationId) &&
        (method === 'GET' || info.query !== undefined),
    );
    const found = await parametersRead(asked);
    // The filters of a list are one parameter of the document.
    const resourceFields = new Map(
      asked.map(({ info }) => [
        info!.operationId,
        new Set(info!.kind === 'list' ? info!.resource?.fields.map(({ name }) => name) : []),
      ]),
    );
    const lists = new Set(
      asked.flatMap(({ info }) => (info!.kind === 'list' ? [info!.operationId] : [])),
    );
    const declared = new Map(operations.map((operation) => [operation.operationId, operation]));
    const faults = [...found].flatMap(([id, names]) => {
      const known = new Set(
        declared
          .get(id)
          ?.parameters.filter((one) => one.in === 'query')
          .map(({ name }) => name),
      );
      const fields = resourceFields.get(id);
      const missing = [...names].filter(
        (name) => !known.has(name) && !NO_PARAMETERS.has(name) && !fields?.has(name),
      );
      // Routes other than lists read parameters that depend on the request.
      const unread = [...known].filter(
        (name) => lists.has(id) && !names.has(name) && name !== 'filters',
      );
      return missing.length + unread.length > 0 ? [{ id, missing, unread }] : [];
    });
    expect(faults).toEqual([]);
  },
);
