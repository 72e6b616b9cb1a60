import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitReach } from '../../code-hosts/git-reach.js';
import { Settings } from '../../config/settings.js';
import { messageOf } from '../../common/errors/errors.js';
import type { CredentialSecrets } from '../../credentials/credential-secrets.service.js';
import type { JobContextsRepository } from '../../runs/job-contexts.repository.js';
import type { RunLeasesRepository } from '../../runs/run-leases.repository.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import { ActiveRun } from './active-runs.service.js';
import type { EventStore } from './event-store.service.js';
import { JobEnvironments } from './job-environments.service.js';

/**
 * Fake Podman that logs its pulls. An image exists after a pull. A pull waits while the file `slow` exists, and
 * copies its login to a file.
 */
const ENGINE = `#!/bin/sh
cd "\${0%/*}"
case "$1" in
  --version) echo 'podman version 4.3.1' ;;
  image) [ -e there ] && echo 'abc sha256:123' ;;
  pull)
    echo "begin $*" >> log
    for word in "$@"; do
      case "$word" in --authfile=*) cp "\${word#*=}" login; stat -c %a "\${word#*=}" > mode ;; esac
    done
    echo "$TMPDIR" > temporary; touch "$TMPDIR/blob"
    echo 'Trying to pull'; echo 'with hunter2-hunter2' >&2
    while [ -e slow ]; do sleep 0.02; done
    touch there; echo 'end' >> log ;;
  *) sleep 0.1; echo 'the image has no ansible-runner' >&2; exit 1 ;;
esac
`;

let folder: string;
let output: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engine-'));
  writeFileSync(join(folder, 'podman'), ENGINE);
  chmodSync(join(folder, 'podman'), 0o755);
  output = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const inFolder = (name: string): string => join(folder, name);
const read = (name: string): string => readFileSync(inFolder(name), 'utf8');
const present = (...names: string[]): void =>
  names.forEach((name) => writeFileSync(inFolder(name), ''));

function environments({
  pull = 'missing',
  image = '203.0.113.9/ee:1',
  allow = '203.0.113.9',
  engine = 'podman',
  inputs = {},
} = {}) {
  const settings = Settings.load({
    ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' },
    ...{ DATA_DIR: folder, JOB_CONTAINER_ENGINE: inFolder(engine), OUTBOUND_ALLOW: allow },
  });
  const row = {
    environment: { name: 'X', image, pull },
    ...{ cancel_requested: false, credential_id: 7, counter: 0, line: 0 },
  };
  return new JobEnvironments(
    { environmentOf: () => Promise.resolve(row) } as unknown as JobContextsRepository,
    { storeEnvironmentDigest: () => Promise.resolve() } as unknown as RunLeasesRepository,
    {
      open: () => Promise.resolve(new Map([[7, { inputs }]])),
    } as unknown as CredentialSecrets,
    new GitReach(settings),
    new SandboxService(settings, undefined as never),
    {
      store: (_: unknown, rows: { stdout: string }[]) => {
        output.push(...rows.map(({ stdout }) => stdout));
        return Promise.resolve(true);
      },
    } as unknown as EventStore,
    settings,
  );
}
const LOGIN = { host: 'https://203.0.113.9/', username: 'me', password: 'hunter2-hunter2' };
const refusal = (service: JobEnvironments, run = new ActiveRun(1, 1)): Promise<string> =>
  service.provide(run).then(() => '', messageOf);

it('a worker names the environment and a remedy if there is no container engine', async () => {
  expect(await refusal(environments({ engine: 'no-podman' }))).toBe(
    `This worker has no container engine for execution environment "X". ${inFolder('no-podman')} is not installed (install the package podman).`,
  );
});

it('a worker names the missing program of an image', async () => {
  present('there');
  expect(await refusal(environments())).toBe(
    `The image 203.0.113.9/ee:1 of execution environment "X" cannot be used: ${inFolder('podman')}: the image has no ansible-runner. Correct the image, or choose another execution environment.`,
  );
});

it('a worker does not pass a stored path of its disk to the engine', async () => {
  expect(await refusal(environments({ image: 'dir:etc' }))).toBe(
    'The image dir:etc of execution environment "X" is not an image reference. Correct the image.',
  );
  expect(existsSync(inFolder('log'))).toBe(false);
});

it.each([
  ['always', true, 1],
  ['missing', true, 0],
  ['missing', false, 1],
  ['', false, 1],
  ['never', true, 0],
  ['never', false, 0],
])(
  'a worker applies the pull policy "%s" to an image that is present: %s',
  async (pull, isThere, pulls) => {
    if (isThere) present('there');
    await refusal(environments({ pull, inputs: LOGIN }));
    const log = existsSync(inFolder('log')) ? read('log') : '';
    expect(log.match(/^begin/gm)?.length ?? 0).toBe(pulls);
  },
);

it('a worker passes the login in a private file, and deletes the file', async () => {
  await refusal(environments({ inputs: { ...LOGIN, verify_ssl: false } }));
  expect(read('log')).toMatch(
    /^begin pull --authfile=\S+ --tls-verify=false 203\.0\.113\.9\/ee:1$/m,
  );
  const auth = Buffer.from('me:hunter2-hunter2').toString('base64');
  expect(JSON.parse(read('login'))).toEqual({ auths: { '203.0.113.9': { auth } } });
  expect(read('mode')).toBe('600\n');
  expect(existsSync(read('temporary').trim())).toBe(false);
  expect(output.join('\n')).toContain('Trying to pull');
  expect(output.join('\n')).not.toContain('hunter2-hunter2');
});

it.each([[{}], [{ ...LOGIN, password: '' }]])(
  'a worker requires host, user name and password for a login: %j',
  async (inputs) => {
    expect(await refusal(environments({ inputs }))).toBe(
      'Please recheck that your host, username, and password fields are all filled.',
    );
  },
);

it.each(['127.0.0.1:5000/ee', 'localhost/ee', '203.0.113.9/ee:1'])(
  'a worker contacts no registry that is not permitted: %s',
  async (image) => {
    expect(await refusal(environments({ image, allow: '198.51.100.1', inputs: LOGIN }))).toContain(
      'is not permitted',
    );
    expect(existsSync(inFolder('log'))).toBe(false);
  },
);

it('a worker runs simultaneous pulls of an image one after the other', async () => {
  const service = environments({ pull: 'always', inputs: LOGIN });
  await Promise.all([1, 2, 3].map((id) => refusal(service, new ActiveRun(id, 1))));
  const words = read('log')
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[0]);
  expect(words).toEqual(['begin', 'end', 'begin', 'end', 'begin', 'end']);
});

it('a worker stops a pull with its run, and the wait of another run for that pull', async () => {
  present('slow');
  const service = environments({ inputs: LOGIN });
  const runs = [new ActiveRun(1, 1), new ActiveRun(2, 1)] as const;
  const ended = runs.map((run) => refusal(service, run));
  while (!existsSync(inFolder('temporary'))) await new Promise(setImmediate);
  for (const run of runs.toReversed()) run.end('cancel');
  expect(await Promise.all(ended)).toEqual(Array(2).fill('The run must end.'));
  expect(existsSync(read('temporary').trim())).toBe(false);
  expect(read('log')).not.toContain('end');
});

it('a run that was canceled before its pull does not wait for the pull of another run', async () => {
  present('slow');
  const service = environments({ inputs: LOGIN });
  const [pulling, canceled] = [new ActiveRun(1, 1), new ActiveRun(2, 1)];
  const pulled = refusal(service, pulling);
  while (!existsSync(inFolder('temporary'))) await new Promise(setImmediate);
  const ended = refusal(service, canceled);
  await new Promise(setImmediate);
  canceled.end('cancel');
  expect(await ended).toBe('The run must end.');
  pulling.end('cancel');
  await pulled;
});

it('a pull leaves no proxy if its folder cannot be created', async () => {
  const servers = () =>
    process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
  const [before, former] = [servers(), process.env.TMPDIR];
  process.env.TMPDIR = inFolder('missing');
  const text = await refusal(environments({ inputs: LOGIN }));
  if (former === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = former;
  expect(text).toContain('ENOENT');
  expect(servers()).toBeLessThanOrEqual(before);
});
