/**
 * Fifty connections send the same delivery at the same moment, round after round:
 *
 *   WEBHOOK_ROUNDS=1000 npx jest webhook-storm --selectProjects api
 */
import { randomUUID } from 'node:crypto';
import { Agent, request, type IncomingMessage } from 'node:http';

import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { deliveryHeaders, firstSample, SERVICE_ROWS } from '../support/payloads/webhooks.js';
import { newHook, type Hook } from '../support/webhooks.js';

const CONNECTIONS = 50;
const ROUNDS = Number(process.env.WEBHOOK_ROUNDS ?? 15);
/** Far more than a round takes on a busy machine. */
const ROUND_MS = 4000;

interface Answer {
  status: number;
  body: { message: string; delivery: number; job: number; url: string };
}

let test: TestApp;
let agent: Agent;
let hooks: Hook[];

beforeAll(async () => {
  test = await boot({ settings: { RECEIVER_RATE: String(ROUNDS * CONNECTIONS * 2) } });
  agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS });
  hooks = [];
  for (const [service] of SERVICE_ROWS) hooks.push(await newHook(test, service));
});
afterAll(async () => {
  agent.destroy();
  await test.close();
});

function send(hook: Hook, rawBody: Buffer, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { agent, method: 'POST', headers };
    const sent = request(`${test.url}${hook.path()}`, options, (answer: IncomingMessage) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Answer['body'];
        resolve({ status: answer.statusCode ?? 0, body });
      });
    });
    sent.on('error', reject);
    sent.end(rawBody);
  });
}

it(
  `launches one job for ${CONNECTIONS} simultaneous copies, in each of ${ROUNDS} rounds`,
  async () => {
    const started = performance.now();
    for (let round = 0; round < ROUNDS; round += 1) {
      const hook = hooks[round % hooks.length]!;
      const { event, payload } = firstSample(hook.service);
      const rawBody = Buffer.from(JSON.stringify(payload));
      const delivery = randomUUID();
      const headers = deliveryHeaders(hook.service, event, rawBody, hook.key, { delivery });
      const copies = Array.from({ length: CONNECTIONS }, () => send(hook, rawBody, headers));
      const answers = await Promise.all(copies);
      expect(answers.map(({ status }) => status)).toEqual(copies.map(() => 202));
      expect(new Set(answers.map(({ body }) => `${body.job} ${body.url}`)).size).toBe(1);
      const queued = answers.filter(({ body }) => body.message === 'Job queued.');
      expect(queued).toHaveLength(1);
    }
    const seconds = (performance.now() - started) / 1000;
    const [jobs, deliveries] = [await countJobs(), await countVerdicts()];
    expect(jobs).toEqual({ jobs: ROUNDS, deliveries: ROUNDS });
    expect(deliveries).toEqual({ accepted: ROUNDS, duplicate: ROUNDS * (CONNECTIONS - 1) });
    const rate = Math.round((ROUNDS * CONNECTIONS) / seconds);
    process.stdout.write(
      `    storm: ${ROUNDS} rounds, ${ROUNDS * CONNECTIONS} deliveries, ${jobs.jobs} jobs, ` +
        `lost 0, doubled 0, ${rate} answers a second\n`,
    );
  },
  60_000 + ROUNDS * ROUND_MS,
);

/** Jobs that webhooks launched, and of how many deliveries. */
async function countJobs(): Promise<{ jobs: number; deliveries: number }> {
  const row = await test.database.row<{ jobs: number; deliveries: number }>(sql`
    SELECT count(*)::int AS jobs, count(DISTINCT webhook_delivery_id)::int AS deliveries
    FROM unified_jobs WHERE launch_type = 'webhook'`);
  return row!;
}

async function countVerdicts(): Promise<Record<string, number>> {
  const rows = await test.database.rows<{ verdict: string; count: number }>(sql`
    SELECT verdict, count(*)::int AS count FROM webhook_deliveries GROUP BY verdict`);
  return Object.fromEntries(rows.map(({ verdict, count }) => [verdict, count]));
}
