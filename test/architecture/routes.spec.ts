/** Declarations of all routes, resources and queues follow common rules. */
import type { OpenAPIObject } from '@nestjs/swagger';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { DiscoveryService } from '@nestjs/core';

import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { buildDocument } from '../../src/openapi/document.js';
import { QueueProcessor } from '../../src/common/queue/queue-processor.js';
import { QUEUE_NAMES } from '../../src/common/queue/queue.port.js';
import { linksOf } from '../../src/common/resource/links.js';
import { resources } from '../../src/common/resource/define-resource.js';
import { VERSION } from '../../src/config/version.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { sampleTypes } from '../support/samples.js';
import { sourceFiles } from './source-files.js';

/** Operations that respond 200 with an empty body, as clients of surveys expect. */
const EMPTY_ANSWERS = new Set(
  ['job_templates', 'workflow_job_templates'].flatMap((path) => [
    `${path}_survey_spec_replace`,
    `${path}_survey_spec_delete`,
  ]),
);

/** Returns the kinds and names that the parameter decorators of a handler request. */
function parametersOf({ prototype, name }: TableRoute): { kind: number; data: unknown }[] {
  const given = Reflect.getMetadata(ROUTE_ARGS_METADATA, prototype.constructor, name) as
    Record<string, { data?: unknown }> | undefined;
  return Object.entries(given ?? {}).map(([key, { data }]) => ({
    kind: Number(key.split(':')[0]),
    data,
  }));
}

let test: TestApp;
let table: RouteTable;
let openapi: OpenAPIObject;
beforeAll(async () => {
  test = await boot();
  table = test.app.get(RouteTable, { strict: false });
  openapi = buildDocument(test.app, VERSION);
});
afterAll(() => test.close());

describe('routes', () => {
  it('declare who may access them', () => {
    expect(table.routes.filter(({ info }) => !info?.access).map(({ handler }) => handler)).toEqual(
      [],
    );
  });

  it('require authentication, except for those listed here', () => {
    const open = table.routes
      .filter(({ info }) => info?.access === 'public')
      .map(({ method, pattern }) => `${method} ${pattern}`);
    expect(open.sort()).toEqual([
      'GET /.well-known/jwks.json',
      'GET /.well-known/openid-configuration',
      'GET /api',
      'GET /api/login',
      'GET /api/login/code',
      'GET /api/o',
      'GET /api/v2',
      'GET /api/v2/auth',
      'GET /api/v2/ping',
      'GET /health/live',
      'GET /health/ready',
      'GET /logo',
      'GET /sso/callback/:slug',
      'GET /sso/login/:slug',
      'GET /sso/metadata/:slug',
      'POST /api/login',
      'POST /api/login/code',
      'POST /api/login/passkey',
      'POST /api/login/passkey/alone',
      'POST /api/logout',
    ]);
  });

  it('without a user are only webhooks, callbacks and applications', () => {
    const signed = table.routes.filter(({ info }) => info?.access === 'signature');
    for (const { method, pattern } of signed) {
      expect(`${method} ${pattern}`).toMatch(
        /^POST \/api\/v2\/(\w+\/:id\/service_(a|b|c_dc)|job_templates\/:id\/callback)$|^POST \/api\/o\/(token|revoke_token)$|^POST \/sso\/callback\/:slug$/,
      );
    }
    expect(signed.length).toBeGreaterThan(0);
  });

  it('have a unique operation id and a summary', () => {
    const ids = table.routes.map(({ info }) => info?.operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    for (const { info, handler } of table.routes) {
      expect(`${handler}: ${info?.summary ?? ''}`).toMatch(/: \S.*\.$/);
    }
  });

  it('that change data check a permission on a resource, on a parent or of their own', () => {
    const writes = table.routes.filter(
      ({ method, info }) => method !== 'GET' && info?.access === 'authenticated',
    );
    const loose = writes.filter(({ info }) => !info?.resource && !info?.parent);
    expect(loose.map(({ method, pattern }) => `${method} ${pattern}`).sort()).toEqual([
      'DELETE /api/v2/settings/:category',
      'PATCH /api/v2/settings/:category',
      // Affects the caller only.
      'POST /api/o/authorize',
      // Affects many objects, each checked with the permissions of its inventory.
      'POST /api/v2/bulk/host_create',
      'POST /api/v2/bulk/host_delete',
      // Explains a rule without changing anything.
      'POST /api/v2/schedules/preview',
      // Sends a test record without changing anything.
      'POST /api/v2/settings/logging/test',
      // Changes the second factor of the caller.
      'POST /second-factor/begin',
      'POST /second-factor/codes',
      'POST /second-factor/confirm',
      'POST /second-factor/passkeys/begin',
      'POST /second-factor/passkeys/confirm',
      'POST /second-factor/passkeys/remove',
      // Links an account to the caller.
      // Applies the rules of each object that the form names.
      'POST /selection',
      'POST /sso/link/:slug',
      'PUT /api/v2/settings/:category',
    ]);
  });
});

/** Returns the parameter names of a pattern, for example `id` for `/api/v2/teams/:id/users`. */
const namesIn = (pattern: string): string[] =>
  [...pattern.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

describe('objects in URLs', () => {
  it('are loaded by the guard, so their routes declare the resource', () => {
    const rows = table.routes.filter(
      ({ pattern, info }) => namesIn(pattern).includes('id') && info?.access !== 'signature',
    );
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter(({ info }) => !info?.parent).map(({ pattern }) => pattern)).toEqual([]);
    const others = rows.flatMap(({ pattern, info }) =>
      namesIn(pattern)
        .filter((name) => name !== 'id' && name !== info?.member?.param)
        .map((name) => `${pattern}: ${name}`),
    );
    expect(others).toEqual([]);
  });

  it('need permissions, and routes without an object need a status of the user', () => {
    for (const { handler, pattern, info } of table.routes) {
      const { parent, needs, refusal, member, systemRole } = info ?? {};
      const asks = [needs, refusal, member].some((one) => one !== undefined);
      const isRow = namesIn(pattern).includes('id');
      expect({ handler, asks: asks && !parent }).toEqual({ handler, asks: false });
      expect({ handler, both: isRow && systemRole !== undefined }).toEqual({
        handler,
        both: false,
      });
    }
  });

  it('require actions that the policy of the object declares', () => {
    for (const { handler, info } of table.routes) {
      const asked = [
        { policy: info?.parent?.policy, action: info?.needs ?? 'read' },
        { policy: info?.member?.resource.policy, action: info?.member?.needs ?? 'read' },
      ];
      for (const { policy, action } of asked) {
        if (!policy || ['read', 'change', 'delete'].includes(action)) continue;
        expect({ handler, action, known: Object.keys(policy.actions ?? {}) }).toMatchObject({
          known: expect.arrayContaining([action]),
        });
      }
    }
  });

  it('are not loaded again: no handler receives an id of the URL', () => {
    const rows = table.routes.filter(({ info }) => info?.parent);
    const again = rows.filter((route) =>
      parametersOf(route).some(
        ({ kind, data }) =>
          kind === RouteParamtypes.REQUEST ||
          (kind === RouteParamtypes.PARAM &&
            (data === undefined || data === 'id' || data === route.info?.member?.param)),
      ),
    );
    expect(again.map(({ handler }) => handler)).toEqual([]);
  });

  it('are not loaded again by the rows that handlers receive', () => {
    const again = sourceFiles('src').flatMap(({ path, text }) => {
      const rows = [...text.matchAll(/@Target\(\) (\w+|\{ id \})/g)].map(([, name = '']) => name);
      return [...new Set(rows)]
        .map((name) => (name === '{ id }' ? 'id' : `${name}\\.id`))
        .filter((id) => new RegExp(`resources\\.(load|assertMay)\\([^;]*\\b${id}\\b`).test(text))
        .map((id) => `${path}: ${id}`);
    });
    expect(again).toEqual([]);
  });
});

describe('handlers', () => {
  it('receive parameters instead of the request, except for those listed here', () => {
    const whole = table.routes
      .filter((route) => parametersOf(route).some(({ kind }) => kind === RouteParamtypes.REQUEST))
      .filter(({ info }) => info?.access !== 'signature')
      .map(({ handler }) => handler);
    expect(whole.sort()).toEqual([
      // Reads the lines of the body from the stream.
      'BulkHostsController.create',
      // Read and set cookies, and respond in a format that the client accepts.
      'ConsentController.form',
      'LinkController.begin',
      'LoginController.codeForm',
      'LoginController.enterCode',
      'LoginController.form',
      'LoginController.login',
      'LoginController.usePasskey',
      'LoginController.usePasskeyAlone',
      'RootController.root',
      'SingleSignOnController.begin',
      'SingleSignOnController.complete',
    ]);
  });
});

describe('resources', () => {
  it('have a rule for reading, and links to existing routes', () => {
    const patterns = new Set(table.entries.map(({ pattern }) => pattern));
    for (const definition of resources()) {
      const { type, path, policy } = definition;
      expect({ type, read: typeof policy.read }).toEqual({ type, read: 'function' });
      for (const [name, link] of linksOf(definition)) {
        const pattern = `/api/v2/${path}/:id/${link}`;
        expect({ type, name, known: patterns.has(pattern) }).toEqual({ type, name, known: true });
      }
    }
  });

  it('are constant after their declaration', () => {
    const open = resources().flatMap((definition) =>
      [definition, definition.fields, definition.relations, ...definition.fields].filter(
        (part) => !Object.isFrozen(part),
      ),
    );
    expect(open).toEqual([]);
  });

  it('have a sample for the tests of all routes', () => {
    const served = new Set(
      table.routes.flatMap(({ info }) => [info?.resource?.type, info?.parent?.type]),
    );
    const types = sampleTypes();
    expect([...served].filter((type) => type && !types.includes(type))).toEqual([]);
  });

  it('exclude secrets from filters', () => {
    const secret =
      /password|token|secret|webhook_key|inputs|notification_configuration|host_config_key|extra_vars/;
    const open = resources().flatMap(({ type, fields }) =>
      fields
        .filter(({ name, filter, internal }) => secret.test(name) && filter && !internal)
        .map(({ name }) => `${type}.${name}`),
    );
    expect(open).toEqual([]);
  });
});

describe('queues', () => {
  it('have exactly one processor, in the worker only', async () => {
    const worker = await bootWorker(test);
    const handled = (context: typeof worker): string[] =>
      context
        .get(DiscoveryService, { strict: false })
        .getProviders()
        .map(({ instance }) => instance as unknown)
        .filter((instance) => instance instanceof QueueProcessor)
        .map(({ queueName }) => queueName);
    expect(handled(worker).sort()).toEqual([...QUEUE_NAMES].sort());
    expect(handled(test.app)).toEqual([]);
    await worker.close();
  });
});

describe('the OpenAPI document', () => {
  type Schema = Record<string, unknown>;
  type Operation = {
    operationId: string;
    parameters?: { name: string; in: string; schema?: Schema }[];
    requestBody?: { content?: Record<string, { schema?: Schema }> };
    responses: Record<
      string,
      { description?: string; content?: Record<string, { schema?: Schema }> }
    >;
  };
  const operations = (): { id: string; path: string; operation: Operation }[] =>
    Object.entries(openapi.paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({
        id: `${method.toUpperCase()} ${path}`,
        path,
        operation,
      })),
    );

  it('contains every route of the table once', () => {
    const written = operations().map(({ id }) => id.replace(/\{(\w+)\}/g, ':$1'));
    const served = table.routes.map(
      ({ method, pattern }) =>
        `${method} ${pattern === '/' ? '' : pattern}${pattern.includes('.') ? '' : '/'}`,
    );
    expect(written.sort()).toEqual(served.sort());
  });

  it('is always the same', () => {
    expect(buildDocument(test.app, VERSION)).toEqual(openapi);
  });

  it('marks the routes outside the API', () => {
    const outside = table.routes.filter(({ info }) => info?.outsideApi);
    expect(outside.map(({ pattern }) => pattern).sort()).toEqual(
      table.routes
        .map(({ pattern }) => pattern)
        .filter((pattern) => !pattern.startsWith('/api'))
        .sort(),
    );
  });

  it('has unique operation ids', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('declares a type for every response and body', () => {
    const untyped = operations().filter(({ operation }) => {
      const success = Object.entries(operation.responses).filter(([status]) =>
        /^[23]/.test(status),
      );
      const bodyless = ['202', '204', '302'];
      if (EMPTY_ANSWERS.has(operation.operationId)) return false;
      const bare = success.filter(
        ([status, { content }]) =>
          !bodyless.includes(status) &&
          !Object.values(content ?? {}).some(
            ({ schema }) => schema && Object.keys(schema).length > 0,
          ),
      );
      return success.length === 0 || bare.length > 0;
    });
    expect(untyped.map(({ id }) => id)).toEqual([]);
  });

  it('declares every parameter of every path', () => {
    for (const { id, path, operation } of operations()) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      const declared = (operation.parameters ?? [])
        .filter((one) => one.in === 'path')
        .map(({ name }) => name);
      expect({ id, declared: declared.sort() }).toEqual({ id, declared: wanted.sort() });
    }
  });

  it('refers to existing schemas', () => {
    const known = new Set(Object.keys(openapi.components?.schemas ?? {}));
    const text = JSON.stringify(openapi);
    const wanted = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name!,
    );
    expect([...new Set(wanted)].filter((name) => !known.has(name))).toEqual([]);
  });

  it('lists the errors of every authenticated route', () => {
    for (const { id, operation } of operations()) {
      const pattern = id.replace(/\{(\w+)\}/g, ':$1').replace(/\/$/, '');
      const route = table.routes.find((one) => `${one.method} ${one.pattern}` === pattern);
      if (route?.info?.access !== 'authenticated') continue;
      expect({ id, statuses: Object.keys(operation.responses) }).toMatchObject({
        id,
        statuses: expect.arrayContaining(['401', '403']),
      });
    }
  });
});
