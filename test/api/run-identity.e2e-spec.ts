/** Tokens that identify runs, and the documents that verify them (docs/run-identity.md). */
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';

import { IdentityTokens } from '../../src/credentials/identity-tokens.js';
import { sql } from '../../src/database/sql.js';
import { SigningKeysRepository } from '../../src/run-identity/signing-keys.repository.js';
import { SigningKeys } from '../../src/run-identity/signing-keys.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { launchJob } from '../support/runs.js';

const ISSUER = 'https://controller.example.com';

let test: TestApp;
beforeAll(async () => {
  test = await boot({ settings: { BASE_URL: `${ISSUER}/` } });
});
afterAll(() => test.close());

async function wellKnown(name: string): Promise<Response> {
  const response = await fetch(`${test.url}/.well-known/${name}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('cache-control')).toBe('public, max-age=300');
  return response;
}

const jwks = async (): Promise<JSONWebKeySet> =>
  (await (await wellKnown('jwks.json')).json()) as JSONWebKeySet;

const issue = (runId: number | null, use: 'login' | 'run', revision = ''): Promise<string> =>
  test.app.get(IdentityTokens, { strict: false }).issue({ runId, revision }, 'vault', use);

const verified = async (token: string) =>
  jwtVerify(token, createLocalJWKSet(await jwks()), { issuer: ISSUER, audience: 'vault' });

it('tokens are verified with public documents, without a login', async () => {
  expect(await (await wellKnown('openid-configuration')).json()).toMatchObject({
    issuer: ISSUER,
    jwks_uri: `${ISSUER}/.well-known/jwks.json`,
    id_token_signing_alg_values_supported: ['RS256'],
  });
  await test.database.execute(sql`DELETE FROM signing_keys`);
  const locks = jest.spyOn(test.app.get(SigningKeysRepository, { strict: false }), 'lock');
  const found = await Promise.all([jwks(), jwks(), jwks()]);
  expect(locks).toHaveBeenCalledTimes(1);
  expect(found.map(({ keys }) => keys.length)).toEqual([1, 1, 1]);
  for (const key of found.flatMap(({ keys }) => keys)) {
    expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  }
  const rows = await test.database.rows<{ private_key: string }>(sql`
    SELECT private_key FROM signing_keys`);
  expect(rows).toEqual([{ private_key: expect.stringMatching(/^\$sealed\$/) }]);
});

it('tokens name the run, and are valid for its maximum duration', async () => {
  const project = await test.make.project({ organization: test.home.organization.id });
  const template = await test.make.jobTemplate({ project: project.id, timeout: 100 });
  const job = await launchJob(test, template);
  const { payload } = await verified(await issue(job.id, 'run', 'abc123'));
  const organization = String(test.home.organization.id);
  expect(payload).toMatchObject({
    sub: `organization:${organization}:template:${template.id}`,
    ...{ job: String(job.id), job_type: 'job', launch_type: 'manual', organization },
    ...{ template: String(template.id), project: String(project.id), revision: 'abc123' },
    launcher: expect.stringMatching(/^\d+$/),
    launcher_name: expect.any(String),
    jti: expect.any(String),
  });
  const { iat = 0, nbf, exp = 0 } = payload;
  expect(nbf).toBe(iat);
  expect(exp - iat).toBe(100 + 600);
  const again = await verified(await issue(job.id, 'run'));
  expect(again.payload.jti).not.toBe(payload.jti);
  expect(again.payload).not.toHaveProperty('revision');
  const login = await verified(await issue(job.id, 'login'));
  expect(login.payload.exp! - login.payload.iat!).toBe(300);
  await test.database.execute(sql`UPDATE unified_jobs SET timeout = -1 WHERE id = ${job.id}`);
  const endless = await verified(await issue(job.id, 'run'));
  expect(endless.payload.exp! - endless.payload.iat!).toBe(24 * 60 * 60);
});

it.each([
  ['job', 100 + 600],
  ['project_update', 200 + 600],
  ['inventory_update', 300 + 600],
  ['ad_hoc_command', 24 * 60 * 60],
])(
  'tokens of a %s without its own timeout are valid for the default of its type',
  async (type, seconds) => {
    const timeouts = {
      DEFAULT_JOB_TIMEOUT: 100,
      DEFAULT_PROJECT_UPDATE_TIMEOUT: 200,
      DEFAULT_INVENTORY_UPDATE_TIMEOUT: 300,
    };
    await test.as.superuser.patch('settings/jobs/', timeouts).expect(200);
    const run = await test.database.row<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name) VALUES (${type}, 'Default timeout') RETURNING id`);
    const { payload } = await verified(await issue(run!.id, 'run'));
    expect(payload.exp! - payload.iat!).toBe(seconds);
  },
);

it('tokens of credential tests name no run and no organization', async () => {
  const { payload } = await verified(await issue(null, 'login'));
  expect(payload.sub).toBe('credential_test');
  expect(Object.keys(payload).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'nbf', 'sub']);
});

it('tokens are verified before and after a new key is used', async () => {
  const before = await issue(null, 'login');
  const keys = test.app.get(SigningKeys, { strict: false });
  const added = await keys.rotate();
  expect((await jwks()).keys.map(({ kid }) => kid)).toContain(added);
  const meanwhile = await issue(null, 'login');
  expect(decodeProtectedHeader(meanwhile).kid).toBe(decodeProtectedHeader(before).kid);
  const pass = (time: string) =>
    test.database.execute(sql`UPDATE signing_keys SET created = created - ${time}::interval`);
  await pass('1 hour');
  const after = await issue(null, 'login');
  expect(decodeProtectedHeader(after).kid).toBe(added);
  for (const token of [before, meanwhile, after]) await verified(token);
  await pass('25 hours');
  expect((await jwks()).keys.map(({ kid }) => kid)).toEqual([added]);
  await keys.rotate();
  const rows = await test.database.rows(sql`SELECT id FROM signing_keys`);
  expect(rows).toHaveLength(2);
});
