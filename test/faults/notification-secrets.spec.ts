/**
 * Secrets in notification configurations never appear in responses, logs or the database of real processes.
 * Each key of every kind that may contain a secret has one. The keys come from the declared configuration, so
 * new kinds and keys are covered automatically.
 */
import { issueToken } from '../../src/common/crypto/tokens.js';
import { encryptedKeys } from '../../src/notifications/backends/configuration.js';
import {
  NOTIFICATION_TYPES,
  type NotificationType,
} from '../../src/notifications/backends/notification-type.js';
import { backendFor } from '../../src/notifications/backends/registry.js';
import { eventually } from '../support/eventually.js';
import { ECHO, HttpSink } from '../support/fakes/http-sink.js';
import { IrcSink } from '../support/fakes/irc-sink.js';
import { configurationsFor } from '../support/fakes/notification-configurations.js';
import { SmtpSink } from '../support/fakes/smtp-sink.js';
import { Cluster } from './support/cluster.js';
import type { Program } from './support/processes.js';

type Values = Record<string, unknown>;
interface Canary {
  readonly word: string;
  /** True if callers who may change the template can read the value: `url` is a plain key of the contract. */
  readonly shown: boolean;
}

const HEADERS = ['Authorization', 'X-Api-Key', 'X-Auth-Token', 'Cookie'];

let cluster: Cluster;
let api: Program & { url: string };
let worker: Program;
let http: HttpSink;
let smtp: SmtpSink;
let irc: IrcSink;
let tokens: { root: string; auditor: string };
/** Uses of a template of each type. Other tests search everything that these left behind. */
const uses = new Map<NotificationType, Promise<void>>();
/** All secrets, and all responses of the processes. */
const canaries: Canary[] = [];
const answers: { from: string; text: string; asAdmin: boolean }[] = [];

beforeAll(async () => {
  http = await HttpSink.start();
  smtp = await SmtpSink.start();
  irc = await IrcSink.start();
  cluster = await Cluster.start({ fakeSeconds: 0 });
  const settings = {
    LOG_LEVEL: 'debug',
    OUTBOUND_ALLOW: '127.0.0.0/8',
    CHAT_A_API_URL: http.url,
    SMS_A_API_URL: http.url,
    INCIDENT_A_API_URL: http.url,
    NOTIFICATION_TEST_RATE: '1000',
  };
  tokens = {
    root: await tokenOf('root', 'is_superuser'),
    auditor: await tokenOf('auditor', 'is_system_auditor'),
  };
  api = await cluster.api(settings);
  worker = await cluster.worker(settings);
});
beforeAll(async () => {
  for (const type of NOTIFICATION_TYPES) {
    uses.set(type, useTemplate(type));
    await Promise.allSettled(uses.values());
  }
});
afterAll(async () => {
  await cluster.stop();
  await Promise.all([http.close(), smtp.close(), irc.close()]);
});

async function tokenOf(username: string, flag: string): Promise<string> {
  const { token, digest } = issueToken();
  await cluster.rows(
    `WITH made AS (INSERT INTO users (username, ${flag}) VALUES ($1, true) RETURNING id)
     INSERT INTO tokens (description, scope, user_id, digest, expires)
     SELECT '', 'write', id, $2, now() + interval '1 hour' FROM made`,
    [username, digest],
  );
  return token;
}

function canary(type: string, key: string, shown = false): string {
  const word = `canary-${type.replaceAll('_', '')}-${key.replaceAll('_', '').toLowerCase()}-${canaries.length}-9f3b7c`;
  canaries.push({ word, shown });
  return word;
}

/** Returns a valid configuration with a canary in every key that is encrypted at rest. */
function poisoned(type: NotificationType): Values {
  const base = configurationsFor({ http: http.port, smtp: smtp.port, irc: irc.port })[type];
  const secrets = encryptedKeys(type).map((key): [string, unknown] => {
    if (key === 'headers') {
      return [key, Object.fromEntries(HEADERS.map((name) => [name, canary(type, name)]))];
    }
    if (key !== 'url') return [key, canary(type, key)];
    const [path, query] = [canary(type, 'path', true), canary(type, 'query', true)];
    return [key, `${http.url}/hooks/${path}?token=${query}`];
  });
  return { ...base, ...Object.fromEntries(secrets) };
}

async function call(
  method: string,
  path: string,
  {
    body,
    html = false,
    as = 'root',
  }: { body?: object; html?: boolean; as?: keyof typeof tokens } = {},
): Promise<Values & { id: number; url: string; status: number }> {
  const answer = await fetch(`${api.url}${path.startsWith('/') ? path : `/api/v2/${path}`}`, {
    method,
    headers: {
      Authorization: `Bearer ${tokens[as]}`,
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      Accept: html ? 'text/html' : 'application/json',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = `${JSON.stringify([...answer.headers])}\n${await answer.text()}`;
  answers.push({ from: `${method} ${path} ${as} ${answer.status}`, text, asAdmin: as === 'root' });
  const json =
    html || answer.status === 204 ? {} : (JSON.parse(text.slice(text.indexOf('\n'))) as Values);
  return { ...(json as Values & { id: number; url: string }), status: answer.status };
}

/** Sends a test and waits until its first attempt has ended. */
async function attempt(template: { url: string }): Promise<number> {
  const { id } = await call('POST', `${template.url}test/`);
  await eventually(async () => {
    const [row] = await cluster.rows(
      'SELECT 1 FROM notifications WHERE id = $1 AND attempts = 1 AND lease_until IS NULL',
      [id],
    );
    if (!row) throw new Error(`notification ${id} was not tried`);
  }, 30_000);
  return id;
}

/** Creates a template of the type, does with it all that the API offers, and deletes it. */
async function useTemplate(type: NotificationType): Promise<void> {
  const configuration = poisoned(type);
  const made = await call('POST', 'notification_templates/', {
    body: {
      name: `template of ${type}`,
      organization: 1,
      notification_type: type,
      notification_configuration: configuration,
    },
  });
  expect(made.status).toBe(201);
  const again = { notification_configuration: poisoned(type) };
  expect((await call('PATCH', made.url, { body: again })).status).toBe(200);
  const wrong = {
    notification_configuration: { ...poisoned(type), [backendFor(type).recipientKey]: 7 },
  };
  expect((await call('PATCH', made.url, { body: wrong })).status).toBe(400);
  const broken = {
    notification_configuration: Object.fromEntries(
      Object.entries(poisoned(type)).map(([key, value]) => [key, [value]]),
    ),
  };
  expect((await call('PATCH', made.url, { body: broken })).status).toBe(400);
  await call('PUT', made.url, {
    body: { name: 'x', organization: 1, notification_type: 'nothing', ...again },
  });
  const copy = await call('POST', `${made.url}copy/`, { body: { name: `copy of ${type}` } });
  expect(copy.status).toBe(201);

  const ids = [await attempt(made)];
  for (const answer of [
    { body: ECHO },
    { status: 500, body: ECHO },
    { status: 400, body: ECHO },
    { status: 307, headers: { location: `http://10.0.0.1/${canaries.at(-1)!.word}` } },
    { fault: 'reset' },
  ] as const) {
    http.reply(answer);
    ids.push(await attempt(copy));
  }
  await cluster.rows('DELETE FROM outbound_breakers');
  await cluster.rows(`UPDATE notifications SET status = 'failed' WHERE status = 'pending'`);
  await call('POST', `/api/v2/notifications/${ids.at(-1)}/resend/`);
  await call('POST', `${copy.url}resend/?dry_run=1`, { body: { from: '2020-01-01' } });

  for (const as of ['root', 'auditor'] as const) {
    for (const html of [false, true]) {
      for (const template of [made, copy]) {
        for (const below of ['', 'notifications/', 'activity_stream/', 'copy/']) {
          await call('GET', `${template.url}${below}`, { html, as });
        }
      }
      for (const id of ids) {
        await call('GET', `notifications/${id}/`, { html, as });
        await call('GET', `notifications/${id}/attempts/`, { html, as });
      }
    }
    await call('OPTIONS', made.url, { as });
  }
  await call('DELETE', made.url);
}

describe.each(NOTIFICATION_TYPES)('%s', (type) => {
  it('is created, changed, refused, copied, sent, failed in every way, read and deleted', async () => {
    await expect(uses.get(type)).resolves.toBeUndefined();
  });
});

it('no other response contains a secret', async () => {
  for (const as of ['root', 'auditor'] as const) {
    for (const path of [
      'notification_templates/',
      'notifications/',
      'notification_attempts/',
      'activity_stream/',
      'organizations/1/',
      'settings/all/',
    ]) {
      for (const html of [false, true]) await call('GET', `${path}?page_size=200`, { html, as });
    }
    await call('GET', '/', { html: true, as });
    await call('OPTIONS', 'notification_templates/', { as });
  }
  const metrics = await fetch(`${api.url}/metrics`, {
    headers: { Authorization: `Bearer ${tokens.root}` },
  });
  answers.push({ from: 'metrics', text: await metrics.text(), asAdmin: false });

  const reached = [
    ...http.requests.flatMap((request) => [request.path, request.body, ...request.rawHeaders]),
    ...irc.lines,
  ].join('\n');
  expect(canaries.length).toBeGreaterThan(50);
  // The secrets were real: those in use reached their services.
  expect(
    canaries.filter(({ word }) => forms(word).some((form) => reached.includes(form))).length,
  ).toBeGreaterThan(10);

  const leaks = answers.flatMap(({ from, text, asAdmin }) =>
    canaries
      .filter(({ word, shown }) => !(asAdmin && shown) && leaksIn(text, word))
      .map(({ word }) => `${from}: ${word}`),
  );
  expect(leaks).toEqual([]);
});

it('no log line contains a secret', () => {
  const logs = `${api.output()}\n${worker.output()}`;
  expect(logs.length).toBeGreaterThan(1000);
  expect(canaries.filter(({ word }) => leaksIn(logs, word))).toEqual([]);
});

it('no table contains a secret in clear text', async () => {
  const tables = await cluster.rows<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  expect(tables.length).toBeGreaterThan(20);
  for (const { name } of tables) {
    const rows = await cluster.rows<{ line: string }>(`SELECT t::text AS line FROM "${name}" t`);
    const dump = rows.map(({ line }) => line).join('\n');
    expect([name, canaries.filter(({ word }) => leaksIn(dump, word))]).toEqual([name, []]);
  }
});

/** Returns a word unchanged and in the encodings that protocols and dumps use. */
function forms(word: string): string[] {
  const bytes = Buffer.from(word);
  // Base64 depends on the preceding bytes: each of the three alignments, without the ends that vary.
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(4, -4),
  );
  return [word, bytes.toString('hex'), ...base64];
}

const leaksIn = (text: string, word: string): boolean =>
  forms(word).some((form) => text.includes(form));
