/**
 * The examples of the OpenAPI document: 46 requests that a new user sends, one after another, each with one
 * that is refused. `RECORD_EXAMPLES=1 npm test -- test/api/openapi-examples` writes the responses to
 * `src/openapi/examples.json`; without it, the server has to respond as recorded.
 *
 * Budget: 30 s, because it sends ninety requests.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import type { OperationExamples } from '../../src/openapi/document.js';
import { boot, type TestApp } from '../support/boot.js';
import { operationsOf, type OpenApiDocument, type Operation } from '../support/openapi.js';
import type { PersonaName } from '../support/personas.js';

const FILE = join(PACKAGE_FOLDER, 'src', 'openapi', 'examples.json');
const IS_RECORDING = process.env.RECORD_EXAMPLES === '1';

type Json = Record<string, unknown>;

interface Request {
  as?: PersonaName | 'anonymous';
  path?: string;
  body?: Json;
  status: number;
}

/** A request of an operation. `{name}` stands for the id that the step with `saves: name` received. */
interface Step {
  operation: string;
  /** Method and path. */
  call: string;
  accepted: Request & { saves?: string };
  /** The same request with a fault; it has the path of `call` unless it has its own. */
  refused: Request;
}

const STEPS = JSON.parse(
  readFileSync(join(PACKAGE_FOLDER, 'test', 'api', 'openapi-examples.json'), 'utf8'),
) as Step[];

let test: TestApp;
const ids = new Map<string, number>();
const recorded: Record<string, OperationExamples> = {};

beforeAll(async () => {
  test = await boot();
  for (const { operation, call, accepted, refused } of STEPS) {
    const done = await send(call, accepted);
    if (accepted.saves !== undefined) ids.set(accepted.saves, done.id!);
    recorded[operation] = {
      accepted: done.exchange,
      refused: (await send(call, refused)).exchange,
    };
  }
  if (IS_RECORDING) writeFileSync(FILE, `${JSON.stringify(recorded, null, 2)}\n`);
}, 60_000);
afterAll(() => test.close());

/** Returns the recorded file. */
const kept = (): Record<string, OperationExamples> =>
  JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, OperationExamples>;

/** Replaces `{name}` by the saved id. */
const filled = (text: string): string =>
  text.replaceAll(/"\{(\w+)\}"|\{(\w+)\}/g, (_all, quoted: string, plain: string) =>
    String(ids.get(quoted ?? plain)),
  );

/** Values that differ from run to run, by key; texts that do, by pattern. */
const BY_KEY: Readonly<Record<string, unknown>> = {
  token: 'tJ0fXq3mPz8uLr5wYv2kNc7hSb4dGa',
  webhook_key: 'wH9sKd2pQx6tBm4vRz7yLf3nJc8gTe5aUq1oWi0rXe',
  webhook_url: 'https://controller.example.com/hook',
  elapsed: 0,
  version: '1.0.0',
};
const NOW = '2030-01-02T03:04:05.678901Z';

function settled(value: unknown, key = ''): unknown {
  if (key in BY_KEY && value !== '' && value !== null) return BY_KEY[key];
  if (Array.isArray(value)) return value.map((one) => settled(one));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, settled(one, name)]),
    );
  }
  if (typeof value !== 'string') return value;
  if (value === hostname()) return 'controller-1';
  return value
    .replaceAll(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, NOW)
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '6a1f0c52-3c1b-4e0a-9d27-5b8f4e2a7c10')
    .replaceAll(
      /https?:\/\/(127\.0\.0\.1|localhost|\[::1\]|0\.0\.0\.0):\d+/g,
      'https://controller.example.com',
    );
}

/** Sends a request and returns it with its response, as the document shows them. */
async function send(call: string, { as = 'superuser', path, body, status }: Request) {
  const [method = '', usual = ''] = call.split(' ');
  const sent = body && (JSON.parse(filled(JSON.stringify(body))) as Json);
  const answer = await test.as[as].request(method, filled(path ?? usual), sent);
  expect({ call, status: answer.status, body: answer.text }).toMatchObject({ call, status });
  const response: unknown = answer.text === '' ? undefined : answer.body;
  const exchange = {
    status,
    ...(sent ? { request: sent } : {}),
    ...(response === undefined ? {} : { response: settled(response) }),
  };
  return { exchange, id: (answer.body as { id?: number } | null)?.id };
}

it.each(STEPS)('$operation', ({ operation }) => {
  expect(recorded[operation]).toEqual(kept()[operation]);
});

it('all examples are in the document', async () => {
  const { body } = await test.as.anonymous.get('/api/openapi.json').expect(200);
  const shown = operationsOf(body as OpenApiDocument).flatMap((operation) => {
    const { operationId, requestBody, responses } = operation;
    const own = kept()[operationId];
    if (!own) return [];
    const valueIn = (content: Operation['responses'][string]['content'], name: string): unknown =>
      content?.['application/json']?.examples?.[name]?.value;
    const exchange = (name: 'accepted' | 'refused') => ({
      status: own[name].status,
      request: valueIn(requestBody?.content, name),
      response: valueIn(responses[String(own[name].status)]?.content, name),
    });
    return [[operationId, { accepted: exchange('accepted'), refused: exchange('refused') }]];
  });
  expect(Object.fromEntries(shown)).toEqual(kept());
});

it('all examples are recorded, and match the schemas of the document', async () => {
  expect(Object.keys(kept())).toEqual(STEPS.map(({ operation }) => operation));
  const { body } = await test.as.anonymous.get('/api/openapi.json').expect(200);
  const document = body as OpenApiDocument;
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'document', components: document.components });
  const faults = operationsOf(document).flatMap(({ operationId, responses, requestBody }) => {
    const examples = kept()[operationId];
    if (!examples) return [];
    const { accepted, refused } = examples;
    const judged: [string, unknown, unknown][] = [accepted, refused].map(({ status, response }) => [
      `${operationId} ${status}`,
      responses[String(status)]?.content?.['application/json']?.schema,
      response,
    ]);
    judged.push([operationId, requestBody?.content['application/json']?.schema, accepted.request]);
    return judged.flatMap(([what, schema, value]) => {
      if (value === undefined) return [];
      if (schema === undefined) return [`${what} is not declared`];
      const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
      const check = ajv.compile(JSON.parse(text) as object);
      return check(value) ? [] : [`${what}: ${ajv.errorsText(check.errors)}`];
    });
  });
  expect(faults).toEqual([]);
});
