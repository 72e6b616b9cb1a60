import { createHmac } from 'node:crypto';
import { join } from 'node:path';

import { measureEach } from './load.mjs';
import { NONCE } from './nonce.mjs';
import { makeTemplate } from './objects.mjs';
import { record, statementsOf } from './record.mjs';
import { report } from './report.mjs';
import { startRaw, startServer } from './servers.mjs';
import { caller, makeWorld, spreadIds } from './world.mjs';

const KB = 1024;
const SIZES = [
  { label: '8 KB', bytes: 8 * KB, count: 1500 },
  { label: '25 KB', bytes: 25 * KB, count: 1500, budget: { ratio: 0.5 } },
  { label: '250 KB', bytes: 250 * KB, count: 200 },
  { label: '1 MB', bytes: KB * KB, count: 60 },
];
/** Who has no key and sends all the same does not wait for the answers one by one. */
const FLOOD_CONNECTIONS = 32;
const SETTINGS = { RECEIVER_RATE: '100000000', WEBHOOK_BODY_LIMIT: String(4 * KB * KB) };

/** Deliveries of every size: accepted, received before, and with a wrong signature. */
export async function benchWebhooks({ root, environment }) {
  const world = await makeWorld({ root, environment, name: 'bench_webhooks', settings: SETTINGS });
  const server = await startServer(join(root, 'dist/src/main.js'), world.environment);
  let raw;
  try {
    const call = caller(server.url, world.admin);
    const { template } = await makeTemplate(world, call, { webhook_service: 'service_a' });
    const { webhook_key: key } = await call('GET', `job_templates/${template.id}/webhook_key/`);
    const path = `/api/v2/job_templates/${template.id}/service_a/`;
    await spreadIds(world);
    const results = [];
    for (const { label, bytes, count, budget } of SIZES) {
      const deliver = deliveryMaker(path, key, bytes);
      const forge = deliveryMaker(path, 'not the key', bytes);
      const accepted = `${label}, accepted`;
      const refused = `${label}, refused`;
      const recorded = await record({
        ...world,
        exchanges: [
          { key: accepted, ...deliver(NONCE) },
          { key: refused, ...forge(NONCE), expected: 403 },
        ],
      });
      await raw?.stop();
      raw = await startRaw(world.environment, recorded);
      const measureBoth = async (name, make, how) => ({
        name,
        ours: await measureEach(server.url, make, how),
        primitive: await measureEach(raw.url, replayed(name, make), how),
        statements: statementsOf(recorded[name]),
      });
      results.push({
        ...(await measureBoth(accepted, deliver, { count, expected: 202 })),
        budget,
      });
      const again = () => deliver(NONCE);
      const known = await measureEach(server.url, again, { count, expected: 202 });
      results.push({ name: `${label}, duplicate`, ours: known });
      const flood = { count: 4 * count, connections: FLOOD_CONNECTIONS, expected: 403 };
      const limit = bytes > 25 * KB ? {} : { budget: { perSecond: 4000 } };
      results.push({ ...(await measureBoth(refused, forge, flood)), ...limit });
    }
    report('Webhooks', results);
  } finally {
    await Promise.all([server.stop(), raw?.stop()]);
  }
}

/** What the raw server is sent to do the same. */
const replayed = (name, make) => (nonce) => {
  const sent = make(nonce);
  return { ...sent, headers: { ...sent.headers, 'x-exchange': name, 'x-nonce': nonce } };
};

/** A push of about `bytes`, most of it the text of its commits, as real ones are. */
function deliveryMaker(path, key, bytes) {
  const commit = {
    id: 'b'.repeat(40),
    message: 'Change a file and tell at some length why it had to be changed.',
    author: { name: 'Somebody', email: 'somebody@example.com' },
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
  // Each size has deliveries of its own, also at the recording.
  const guidStart = bytes.toString(16).padStart(8, '0');
  return (nonce) => ({
    path,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-a-event': 'push',
      'x-service-a-delivery': `${guidStart}-0000-4000-8000-0000${nonce}`,
      'x-service-a-signature-256': signature,
    },
    body,
  });
}
