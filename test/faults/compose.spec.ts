/**
 * Starts the containers of deploy/compose.yaml with the commands at the top of that file, and runs a job in
 * them.
 *
 * Only in the deep slice `compose`: it needs Docker with Compose, and a registry or the images.
 * Budget: 300 s, because Docker builds the image if there is none.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { ApiClient } from '../support/client.js';
import { HAS_DOCKER } from '../support/depth.js';
import { eventually } from '../support/eventually.js';
import { freePort } from './support/processes.js';

const execute = promisify(execFile);
const MINUTE_MS = 60_000;
/** Files that the image is built from, and those of Compose. */
const COPIED = [
  '.npmrc',
  '.swcrc',
  'Dockerfile',
  'deploy',
  'migrations',
  'package-lock.json',
  'package.json',
  'scripts',
  'src',
];

/** Returns the commands in the comment at the top of the file, by their program. */
async function commands(): Promise<{ up: string; password: string }> {
  const text = await readFile(join(PACKAGE_FOLDER, 'deploy', 'compose.yaml'), 'utf8');
  const [up = ''] = /^# for name[^]*? up$/m.exec(text) ?? [];
  const [, password = ''] = /^# {3}(docker compose .* run .*)$/m.exec(text) ?? [];
  return { up: up.replaceAll(/^# /gm, ''), password };
}

(HAS_DOCKER ? it : it.skip)(
  'docker compose starts the service, which runs a job',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'compose-'));
    for (const name of COPIED) {
      await cp(join(PACKAGE_FOLDER, name), join(folder, name), { recursive: true });
    }
    const port = await freePort();
    const { PATH, HOME } = process.env;
    const env = {
      PATH,
      HOME,
      PORT: String(port),
      COMPOSE_PROJECT_NAME: basename(folder).toLowerCase(),
    };
    const { up, password } = await commands();
    const started = spawn('bash', ['-euc', up], { cwd: folder, env, stdio: 'ignore' });
    const end = once(started, 'exit');
    try {
      const url = `http://127.0.0.1:${port}`;
      await eventually(async () => {
        expect((await fetch(`${url}/health/ready`)).status).toBe(200);
      }, 10 * MINUTE_MS);
      const { stdout } = await execute('bash', ['-euc', password], { cwd: folder, env });
      const credentials = Buffer.from(`admin:${stdout.trim()}`).toString('base64');
      const admin = new ApiClient(url, { Authorization: `Basic ${credentials}` });
      const { body: templates } = await admin.get('job_templates/?name=Demo+Job+Template');
      const { body: launched } = await admin
        .post(`job_templates/${templates.results[0].id}/launch/`, {})
        .expect(201);
      await eventually(async () => {
        const { body: job } = await admin.get(`jobs/${launched.job}/`).expect(200);
        expect(job).toMatchObject({ status: 'successful' });
      }, MINUTE_MS);
    } finally {
      const down = 'docker compose -f deploy/compose.yaml down --volumes';
      await execute('bash', ['-euc', down], { cwd: folder, env });
      await end;
      await rm(folder, { recursive: true, force: true });
    }
  },
  15 * MINUTE_MS,
);
