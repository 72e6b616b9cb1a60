/**
 * A client typed by the OpenAPI document compiles strictly, reports misuse, and has types that match the
 * responses.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import openapiTypes, { astToString } from 'openapi-typescript';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { boot, type TestApp } from '../support/boot.js';

jest.setTimeout(180_000);

const DOCUMENT = pathToFileURL(join(PACKAGE_FOLDER, 'docs', 'openapi.json'));
const COMPILER = join(PACKAGE_FOLDER, 'node_modules', 'typescript-native', 'bin', 'tsc');
/** Imported by path, because the file compiles only next to the types generated from the document. */
const JOURNEY = new URL('../client/journey.js', import.meta.url);

let test: TestApp;
let folder: string;
/** Types generated from the document, as text. */
let types: string;

beforeAll(async () => {
  test = await boot();
  folder = await mkdtemp(join(tmpdir(), 'controller-client-'));
  types = astToString(await openapiTypes(DOCUMENT));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await test.close();
});

const run = promisify(execFile);

/**
 * Compiles the journey strictly with the types of the document.
 * @returns the errors of the compiler
 */
async function compilerErrors(file: string, typesFile: string): Promise<string> {
  const settings = join(folder, 'tsconfig.json');
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true },
    ...{ target: 'es2023', module: 'nodenext', moduleResolution: 'nodenext' },
    types: ['node'],
    typeRoots: [join(PACKAGE_FOLDER, 'node_modules', '@types')],
    paths: { '@controller/api': [typesFile] },
  };
  await writeFile(settings, JSON.stringify({ compilerOptions, files: [file] }));
  const compiling = run(process.execPath, [COMPILER, '-p', settings, '--pretty', 'false']);
  // The compiler exits with 1 or 2 when it reports errors.
  const { stdout } = await compiling.catch((error: { stdout: string }) => error);
  return stdout;
}

it('the client compiles strictly with the types of the document', async () => {
  const file = join(folder, 'api.ts');
  await writeFile(file, types);
  expect(await compilerErrors(join(PACKAGE_FOLDER, 'test', 'client', 'journey.ts'), file)).toBe('');
});

it('the client logs in, creates, lists, receives errors and launches', async () => {
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

it('the client has every operation of the document', async () => {
  const document = JSON.parse(await readFile(DOCUMENT, 'utf8')) as { paths: object };
  for (const path of Object.keys(document.paths)) expect(types).toContain(`"${path}": {`);
});
