/**
 * A client typed by the document: its types compile strictly, find mistakes, and tell the truth.
 *
 * Budget: 25 s, because it compiles a generated client.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import openapiTypes, { astToString } from 'openapi-typescript';
import ts from 'typescript';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { boot, type TestApp } from '../support/boot.js';

jest.setTimeout(180_000);

const DOCUMENT = pathToFileURL(join(PACKAGE_FOLDER, 'docs', 'openapi.json'));
/** Not imported by name: it compiles beside the types that are made of the document only. */
const JOURNEY = new URL('../client/journey.js', import.meta.url);

let test: TestApp;
let folder: string;

beforeAll(async () => {
  test = await boot();
  folder = await mkdtemp(join(tmpdir(), 'controller-client-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await test.close();
});

/** Everything the strict compiler has to say about the journey with these types. */
function complaintsAbout(file: string, types: string): string[] {
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    types: ['node'],
    paths: { '@controller/api': [types] },
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText, start, file: at }) =>
      [
        at?.fileName.split('/').at(-1),
        at && start !== undefined ? at.getLineAndCharacterOfPosition(start).line + 1 : '',
        ts.flattenDiagnosticMessageText(messageText, '\n'),
      ].join(': '),
    );
}

it('compiles strictly against the types of the document', async () => {
  const types = join(folder, 'api.ts');
  await writeFile(types, astToString(await openapiTypes(DOCUMENT)));
  expect(complaintsAbout(join(PACKAGE_FOLDER, 'test', 'client', 'journey.ts'), types)).toEqual([]);
});

it('logs in, creates, lists, is told its mistakes and launches', async () => {
  const account = { username: 'typed', password: 'a good password' };
  await test.make.user({ ...account, is_superuser: true });
  const template = await test.make.jobTemplate();
  const { journey } = (await import(JOURNEY.href)) as {
    journey: (...given: unknown[]) => Promise<unknown>;
  };
  const outcome = await journey(test.url, account, {
    organization: test.home.organization.id,
    template: template.id,
  });
  expect(outcome).toEqual({
    teamUrl: expect.stringMatching(/^\/api\/v2\/teams\/\d+\/$/),
    listed: [expect.stringMatching(/^Typed /)],
    total: 1,
    mistakes: expect.arrayContaining(['This field is required.']),
    missing: 'No Team matches the given query.',
    job: { id: expect.any(Number), status: 'pending', launch_type: 'manual' },
    ignored: ['limit'],
  });
});

it('knows every operation of the document', async () => {
  const document = JSON.parse(await readFile(DOCUMENT, 'utf8')) as { paths: object };
  const text = astToString(await openapiTypes(DOCUMENT));
  for (const path of Object.keys(document.paths)) expect(text).toContain(`"${path}": {`);
});
