/**
 * Installs as docs/installing.md describes: its settings, its unit and its commands, on an empty database. No
 * systemd runs here, so the test starts the commands of the unit; the account is that of the test.
 *
 * Budget: 30 s, because it runs three commands and starts API and worker.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { eventually } from '../support/eventually.js';
import { createEmptyDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort, Processes } from './support/processes.js';

const execute = promisify(execFile);
const START_MS = 30_000;

let folder: string;
let database: TestDatabase;
const processes = new Processes();
const units: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'installing-'));
  database = await createEmptyDatabase();
});
afterAll(async () => {
  for (const unit of units) {
    const exit = once(unit, 'exit');
    unit.kill('SIGTERM');
    await exit;
  }
  await processes.endAll();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the blocks of a language, with the places of the test. */
async function blocks(language: string): Promise<string[]> {
  const text = await readFile(join(PACKAGE_FOLDER, 'docs', 'installing.md'), 'utf8');
  const found = text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...found].map(([, block = '']) =>
    block
      .replaceAll('/etc/automation-controller', join(folder, 'automation-controller'))
      .replaceAll('/var/lib/automation-controller', join(folder, 'data')),
  );
}

it('installs an API and a worker that the administrator can use', async () => {
  const [redisPort, port] = [await freePort(), await freePort()];
  processes.redis(redisPort, folder);
  const [settings = '', unit = ''] = await blocks('ini');
  const given = settings
    .replace(/^DATABASE_URL=.*$/m, `DATABASE_URL=${database.url}`)
    .replace(/^REDIS_URL=.*$/m, `REDIS_URL=redis://127.0.0.1:${redisPort}/0`);
  await writeFile(join(folder, 'automation-controller.env'), `${given}PORT=${port}\n`);

  const [commands = ''] = await blocks('sh');
  const stands =
    'chown() { :; }\nsystemctl() { echo "systemctl $*"; }\nrunuser() { echo "as $2"; shift 3; "$@"; }\n';
  const { PATH = '', HOME = '' } = process.env;
  const { stdout } = await execute('bash', ['-euo', 'pipefail', '-c', stands + commands], {
    cwd: PACKAGE_FOLDER,
    env: { PATH, HOME },
  });
  expect(stdout).toMatch(/applied InitialSchema.*\n.*admin is a superuser/s);
  expect(stdout).not.toContain('FAILED');
  // Root could read and write what the service cannot.
  expect(stdout).toMatch(/^as automation-controller\nok {6}PostgreSQL: /m);

  const [, names = ''] = /^systemctl enable --now (.*)$/m.exec(stdout) ?? [];
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  expect(unit).toContain(`EnvironmentFile=${join(folder, 'automation-controller.env')}`);
  const variables = Object.fromEntries(
    [...`${given}\n${unit}`.matchAll(/^(?:Environment=)?([A-Z_]+)=(.*)$/gm)].map(
      ([, name, value]) => [name, value],
    ),
  );
  // Host keys that a worker cannot store are accepted again at each sync.
  expect(variables.HOME).toBe(join(folder, 'data', 'home'));
  for (const name of names.split(' ')) {
    const [program = '', ...args] = command.replace('%i', name.split('@')[1] ?? '').split(' ');
    expect(program).toBe('/usr/bin/node');
    const env = { ...variables, PATH, PORT: String(port) };
    units.push(spawn(process.execPath, args, { cwd: PACKAGE_FOLDER, env, stdio: 'ignore' }));
  }
  expect(units).toHaveLength(2);

  const authorization = `Basic ${Buffer.from('admin:a good password').toString('base64')}`;
  await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v2/instances/`, {
      headers: { authorization },
    });
    expect(await answer.json()).toMatchObject({ count: 1, results: [{ node_state: 'ready' }] });
  }, START_MS);
});
