/**
 * Secrets, values and session tokens of all kinds of stores appear nowhere, even if a store quotes them in
 * a refusal.
 */
import { ConsoleLogger, Logger } from '@nestjs/common';

import { OutboundClient } from '../../src/outbound/outbound-client.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { CredentialSecrets } from '../../src/credentials/credential-secrets.service.js';
import { LookupSession } from '../../src/credentials/external/lookup-session.js';
import { managedCredentialType } from '../support/managed-credential-type.js';
import { secretInputs } from '../../src/credentials/types/inputs.js';
import { ident, sql } from '../../src/database/sql.js';
import { JsonLogger } from '../../src/logging/json-logger.js';
import { boot, type TestApp } from '../support/boot.js';
import { FakeSecretStores } from '../support/fakes/fake-secret-stores.js';
import { SESSION_TOKENS, VENDOR_STORES } from '../support/fakes/vendor-samples.js';

let test: TestApp;
let stores: FakeSecretStores;
let restore: () => void;
let logged = '';
const print = process.stdout.write.bind(process.stdout);
beforeAll(async () => {
  stores = await FakeSecretStores.start();
  Object.assign(stores.secrets, { 'kv/data/db': { data: { password: 'vault-value' } } });
  Object.assign(stores.accounts, { 'Safe=Ops;Object=db': { Content: 'ccp-value' } });
  stores.logins.jwt = 'any';
  test = await boot({ settings: { OUTBOUND_ALLOW: '127.0.0.0/8', CREDENTIAL_TEST_RATE: '1000' } });
  restore = stores.reroute(test.app.get(OutboundClient, { strict: false }));
  Logger.overrideLogger(new JsonLogger('debug'));
  process.stdout.write = (chunk: string | Uint8Array) => {
    logged += String(chunk);
    return true;
  };
});
afterAll(async () => {
  process.stdout.write = print;
  Logger.overrideLogger(new ConsoleLogger({ logLevels: ['error', 'fatal'] }));
  restore();
  await test.close();
  await stores.close();
});

/** Kinds with the secrets of their credential, the value and the tokens of sessions. */
const kinds = Object.entries(VENDOR_STORES).map(([namespace, sample]) => {
  const type = managedCredentialType(namespace);
  if (!type) throw new Error(`no type ${namespace}`);
  const given = sample.inputs('http://127.0.0.1');
  const inputs = secretInputs(type).flatMap((id) => (given[id] ? [String(given[id])] : []));
  // JSON escapes line breaks, so one line of a key stands for it.
  const lines = [...inputs, sample.value].map((text) => text.split('\n')[1] || text.trim());
  return { namespace, sample, secrets: [...lines, ...SESSION_TOKENS] };
});

function expectNone(secrets: readonly string[], text: string, where: string): void {
  for (const secret of secrets) {
    const at = text.indexOf(secret);
    if (at >= 0) throw new Error(`${where}: ${text.slice(Math.max(0, at - 80), at + 60)}`);
  }
}

it.each(kinds)('$namespace shows no secret', async ({ namespace, sample, secrets }) => {
  const { as, home, make } = test;
  const { superuser } = as;
  const organization = home.organization.id;
  const inputs = sample.inputs(stores.url);
  const store: Row = await make.credential({ organization, namespace, inputs });
  const target: Row = await make.credential({ organization });
  const { body: source } = await superuser
    .post(`credentials/${target.id}/input_sources/`, {
      ...{ input_field_name: 'password', source_credential: store.id, metadata: sample.location },
    })
    .expect(201);
  const bodies: string[] = [];
  const tested = `credentials/${store.id}/test/`;
  const good = await superuser.post(tested, { metadata: sample.location }).expect(202);
  expect(good.body).toEqual({});
  const { body: shown } = await superuser.get(`credentials/${store.id}/`).expect(200);
  const type = `credential_types/${shown.credential_type}/test/`;
  await superuser.post(type, { inputs, metadata: sample.location }).expect(202);
  const secretsOf = test.app.get(CredentialSecrets, { strict: false });
  for (const [index] of sample.lines.entries()) {
    const before = sample.lines.slice(0, index).map(() => null);
    // Conjur repeats a refused login at another path.
    const echo = [...before, ...(namespace === 'conjur' && index === 0 ? ['echo'] : []), 'echo'];
    for (const [path, body] of [
      [tested, { metadata: sample.location }],
      [type, { inputs, metadata: sample.location }],
    ] as const) {
      stores.faults.push(...(echo as 'echo'[]));
      bodies.push((await superuser.post(path, body).expect(400)).text);
    }
    stores.faults.push(...(echo as 'echo'[]));
    await secretsOf.open([target.id], new LookupSession()).then(
      () => expect(index).toBe(-1),
      (error: Error) => bodies.push(error.stack ?? error.message),
    );
    expect(bodies.at(-1)).toContain('Could not get "password" of credential');
    expect(stores.faults).toEqual([]);
  }
  const opened = (await secretsOf.open([target.id], new LookupSession())).get(target.id);
  expect(String(opened?.inputs.password)).toContain(sample.value.trim());
  const browser = superuser.with({ Accept: 'text/html' });
  for (const path of [
    ...[`credentials/${store.id}/`, `credentials/${target.id}/`, source.url as string],
    ...['credentials/?page_size=200', 'credential_input_sources/?page_size=200'],
    ...['activity_stream/?page_size=200', `credentials/${store.id}/activity_stream/`],
  ]) {
    bodies.push((await superuser.get(path).expect(200)).text);
    bodies.push((await browser.get(path).expect(200)).text);
  }
  for (const path of [`credentials/${store.id}/`, tested, 'credentials/']) {
    bodies.push((await superuser.options(path).expect(200)).text);
  }
  for (const [index, text] of bodies.entries()) expectNone(secrets, text, `body ${index}`);
});

it('a GitHub App issues a token to git that is not stored', async () => {
  const credential: Row = await test.make.credential({
    ...{ organization: test.home.organization.id, namespace: 'github_app_token' },
    inputs: VENDOR_STORES.github_app?.inputs(stores.url),
  });
  const secrets = test.app.get(CredentialSecrets, { strict: false });
  const opened = (await secrets.open([credential.id], new LookupSession())).get(credential.id);
  expect(opened?.inputs).toMatchObject({
    ...{ username: 'x-access-token', password: 'ghs_github-value' },
  });
  stores.faults.push('echo');
  await expect(secrets.open([credential.id], new LookupSession())).rejects.toThrow(
    `Could not get a token with credential "${credential.name as string}": HTTP 403.`,
  );
});

it('no log line and no table contains a secret in clear text', async () => {
  const secrets = kinds.flatMap((kind) => kind.secrets);
  new Logger('Test').warn({ message: 'log lines are recorded' });
  expect(logged).toContain('log lines are recorded');
  expectNone(secrets, logged, 'log');
  const tables = await test.database.rows<{ name: string }>(sql`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`);
  for (const { name } of tables) {
    const rows = await test.database.rows<{ line: string }>(sql`
      SELECT row::text AS line FROM ${ident(name)} row`);
    for (const { line } of rows) expectNone(secrets, line, name);
  }
});
