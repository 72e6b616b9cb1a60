/**
 * A Python client generated from the document. Runs where `PYTHON_CLIENT` names a generator.
 *
 * Budget: 40 s, because it generates a client of all operations.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { boot } from '../support/boot.js';

const execute = promisify(execFile);
const generator = process.env.PYTHON_CLIENT;
if (!generator) process.stderr.write('! the Python client: NOT RUN, only npm run test:deep does\n');
const itGenerates = generator ? it : it.skip;

/** Formats that the generator does not know: a picture, SAML metadata, and lines of JSON. */
const NOT_GENERATED = ['GET /logo/', 'GET /sso/metadata/{slug}/', 'POST /api/v2/bulk/host_create/'];

itGenerates('the Python client creates, lists, receives errors and launches', async () => {
  const test = await boot();
  const folder = await mkdtemp(join(tmpdir(), 'controller-client-'));
  try {
    const { stderr } = await execute(generator!, [
      ...['generate', '--meta', 'none', '--output-path', join(folder, 'controller_client')],
      ...['--path', join(PACKAGE_FOLDER, 'docs', 'openapi.json')],
    ]);
    const warnings = [...stderr.matchAll(/^WARNING parsing (\S+ \S+)/gm)].map(([, route]) => route);
    expect(warnings).toEqual(NOT_GENERATED);

    const template = await test.make.jobTemplate();
    const { body: token } = await test.as.superuser.post('/api/v2/tokens/', { scope: 'write' });
    const { stdout } = await execute(
      join(dirname(generator!), 'python'),
      [
        join(PACKAGE_FOLDER, 'test', 'client', 'journey.py'),
        ...[test.url, token.token, test.home.organization.id, template.id].map(String),
      ],
      { env: { PATH: process.env.PATH, PYTHONPATH: folder } },
    );
    expect(JSON.parse(stdout)).toEqual({
      team: expect.stringMatching(/^\/api\/v2\/teams\/\d+\/$/),
      listed: ['Generated'],
      mistakes: { name: ['This field may not be blank.'] },
      missing: 'No Team matches the given query.',
      channel: 'notification_template',
      job: ['job', 'manual'],
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
    await test.close();
  }
});
