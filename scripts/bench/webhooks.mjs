import { createHmac } from 'node:crypto';
import { join } from 'node:path';

import { assertEqual, measureBoth } from './compare.mjs';
import { postmasterOf } from './cost.mjs';
import { seedTemplate } from './data.mjs';
import { WITHOUT_COUNTERS } from './limit/indexes.mjs';
import { sendEach } from './load.mjs';
import { createTemplate } from './objects.mjs';
import { report } from './report.mjs';
import { changesOf } from './row-changes.mjs';
import { startLimit, startServer } from './servers.mjs';
import { caller, createWorld } from './world.mjs';

/** @typedef {import('./types.d.mts').Sent} Sent */

const KB = 1024;
const SIZES = [
  { label: '8 KB', bytes: 8 * KB, count: 160, budget: { ratio: 0.5, apiMs: 1.2, statements: 6 } },
  { label: '100 KB', bytes: 100 * KB, count: 80, budget: { ratio: 0.5, statements: 6 } },
  { label: '1 MB', bytes: KB * KB, count: 12, budget: { statements: 6 } },
];
/**
 * Number of connections of senders without a key, who do not wait for one response before the next request.
 */
const FLOOD_CONNECTIONS = 32;
const SETTINGS = { RECEIVER_RATE: '100000000', WEBHOOK_BODY_LIMIT: String(4 * KB * KB) };
const TABLES = ['webhook_deliveries', 'unified_jobs', 'job_credentials', 'activity_stream'];
const COMPARED = 'the same';
const [ACCEPTED, REFUSED] = [202, 403];

/**
 * Measures deliveries of every size: accepted, received before, and with a wrong signature.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchWebhooks({ root, environment, turns, only }) {
  const name = 'bench_webhooks';
  const world = await createWorld({ root, environment, name, settings: SETTINGS });
  const main = join(root, 'dist/main.js');
  const objects = await prepare(world, main);
  const limit = await startLimit(world, { objects, prepare: WITHOUT_COUNTERS });
  const product = await startServer(main, world.environment);
  try {
    const postmaster = await postmasterOf(world.environment.DATABASE_URL);
    const pair = { product, limit, postmaster };
    const path = `/api/v2/job_templates/${objects.template}/service_a/`;
    const kinds = SIZES.flatMap((size) => kindsOf(path, objects.webhookKey, size)).filter(
      ({ name }) => name.includes(only),
    );
    // The product records refusals within a second, so refused deliveries come last: rows are not counted
    // after them.
    for (const { name, make, expected } of kinds.toSorted((a, b) => a.expected - b.expected)) {
      const tables = expected === ACCEPTED ? TABLES : [];
      const changes = await changesOf(world, tables, (server) =>
        sendOne(pair[server], make(COMPARED)),
      );
      assertEqual(name, changes.product, changes.limit, 'response or new rows');
    }
    const loads = kinds.map(({ name, budget, make, ...options }) => ({
      name,
      budget,
      load: (/** @type {import('./types.d.mts').RunningServer} */ { url }) =>
        sendEach(url, make, options),
    }));
    const results = await measureBoth(pair, loads, turns);
    return report('Webhooks', results);
  } finally {
    await Promise.all([product.stop(), limit.stop()]);
  }
}

/**
 * Returns deliveries of one size: new deliveries, the same delivery again, and deliveries signed with another key.
 *
 * @param {string} path
 * @param {string} key
 * @param {typeof SIZES[number]} size
 */
function kindsOf(path, key, { label, bytes, count, budget }) {
  const deliver = deliveryMaker(path, key, bytes);
  const again = () => deliver(`${COMPARED} again`);
  const createForged = deliveryMaker(path, 'not the key', bytes);
  const flood = { count: 8 * count, connections: FLOOD_CONNECTIONS };
  return [
    { name: `${label}, accepted`, budget, make: deliver, count, expected: ACCEPTED },
    { name: `${label}, redelivered`, budget, make: again, count, expected: ACCEPTED },
    { name: `${label}, refused`, budget, make: createForged, ...flood, expected: REFUSED },
  ];
}

/**
 * @param {import('./types.d.mts').World} world
 * @param {string} main
 */
async function prepare(world, main) {
  const server = await startServer(main, world.environment);
  const call = caller(server.url, world.admin);
  const { template } = await createTemplate(world, call, { webhook_service: 'service_a' });
  const { webhook_key: key } = await call('GET', `job_templates/${template.id}/webhook_key/`);
  await server.stop();
  await seedTemplate(world, Number(template.id));
  return { template: Number(template.id), webhookKey: String(key) };
}

/**
 * Sends a request, and returns the parts of the response that both servers must have in common: the status
 * and, for a success, the message.
 *
 * @param {import('./types.d.mts').RunningServer} server
 * @param {Sent} sent
 */
async function sendOne({ url }, { path, method, headers, body = '' }) {
  const bytes = new Uint8Array(Buffer.from(body));
  const response = await fetch(`${url}${path}`, { method, headers, body: bytes });
  const answer = JSON.parse(await response.text());
  return { status: response.status, message: answer.message };
}

/**
 * Returns a function that creates a push of about `bytes`, most of it the text of its commits, like a real
 * push.
 *
 * @param {string} path
 * @param {string} key
 * @param {number} bytes
 * @returns {(nonce: string) => Sent}
 */
function deliveryMaker(path, key, bytes) {
  const commit = {
    id: 'b'.repeat(40),
    message: 'Change a file and explain in detail why it changed.',
    author: { name: 'Author', email: 'author@example.com' },
    modified: ['roles/web/tasks/main.yml', 'roles/web/templates/site.conf'],
  };
  const size = Math.floor(bytes / (JSON.stringify(commit).length + 1));
  const payload = JSON.stringify({
    ref: 'refs/heads/main',
    after: 'a'.repeat(40),
    repository: { full_name: 'octo/site', statuses_url: 'https://api.example.com/s/{sha}' },
    commits: Array.from({ length: size }, () => commit),
  });
  const body = Buffer.from(payload);
  const signature = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
  return (nonce) => ({
    path,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-a-event': 'push',
      // Each size has its own delivery ids.
      'x-service-a-delivery': `${bytes}-${nonce.replaceAll(' ', '-')}`,
      'x-service-a-signature-256': signature,
    },
    body,
  });
}
