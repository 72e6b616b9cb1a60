import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Settings } from '../../config/settings.js';
import {
  containerLaunch,
  type ContainerPlan,
  engineEnvironment,
  environmentScript,
  ownerIn,
} from './container.js';
import { GUARD } from './container-guard.js';

const settings = Settings.load({
  ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' },
  ...{
    JOB_PROCESSES: '99',
    JOB_MEMORY_BYTES: '100000000',
    JOB_CPUS: '2',
    JOB_TMP_BYTES: '5000000',
  },
});
const plan: ContainerPlan = {
  kind: 'container',
  ...{ engine: 'podman', isPodman: true, image: 'registry.example.com/tools:1', isRoot: true },
  ...{ account: { uid: 998, gid: 997 }, shown: [{ from: '/srv/a,b' }] },
  covered: [{ path: '/srv/a,b/data', isFolder: true }],
  ...{ openFiles: 1000, maxProcesses: 30_000, filter: Buffer.from('{}') },
  owner: { installation: 'abc', worker: '12-345' },
};
const spec = {
  ...{ root: '/data/run', home: '/runner/home', name: 'job-7', hasNetwork: false },
  binds: [
    { from: '/data/run/runner', to: '/runner', isWritable: true },
    { from: '/nowhere/to/be/found', isOptional: true },
    ...['first', 'second'].map((name) => ({ from: `/${name}`, to: '/twice' })),
  ],
};
const command = {
  ...{ file: 'ansible-runner', args: ['run', '/runner'], cwd: '/runner/project' },
  environment: {
    ...{ PATH: '/worker/bin', HOME: '/root', TOKEN: "it's\nsecret", 'NOT A NAME': 'x' },
    ...{ LD_PRELOAD: '/runner/evil.so', DOCKER_HOST: 'tcp://evil', CONTAINERS_CONF: '/evil' },
    AUTOMATION_CONTROLLER_RUN: '7:1:key',
  },
};
const launchOf = (changes: Partial<ContainerPlan> = {}, network = false) =>
  containerLaunch(command, { ...spec, hasNetwork: network }, { ...plan, ...changes }, settings);

describe('a command in a container', () => {
  it('has the limits and capabilities of the settings', async () => {
    const { args } = await launchOf();
    expect(args).toEqual(
      expect.arrayContaining([
        ...['--read-only', '--read-only-tmpfs=false', '--cap-drop=all', '--user=998:997'],
        '--image-volume=ignore',
        ...['--security-opt=no-new-privileges', '--security-opt=seccomp=/data/run/filter'],
        ...['--network=none', '--pids-limit=99', '--cpus=2', '--log-driver=none'],
        ...['--ulimit=nofile=1000:1000', '--ulimit=nproc=30000:30000', '--ulimit=core=0:0'],
        `--memory=${125_000_000 + 5_000_000 + 2 * 64 * 1024 * 1024}`,
        '--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777,size=5000000,notmpcopyup',
        ...['--hostname=job-7', '--workdir=/runner/project', '--pull=never'],
      ]),
    );
    expect(args.slice(-3)).toEqual(['ansible-runner', 'run', '/runner']);
  });

  it('sees its own folder and the mounted folders, and no missing ones', async () => {
    const { args } = await launchOf();
    expect(args.filter((argument) => argument.startsWith('--mount='))).toEqual([
      '--mount=type=bind,"source=/srv/a,b","target=/srv/a,b",readonly',
      ...['passwd', 'group', 'hosts'].map(
        (name) => `--mount=type=bind,source=/data/run/${name},target=/etc/${name},readonly`,
      ),
      '--mount=type=bind,source=/data/run/runner,target=/runner',
      '--mount=type=bind,source=/second,target=/twice,readonly',
      '--mount=type=bind,source=/data/run/environment,target=/run/environment,readonly',
    ]);
    expect(args).toContain('--tmpfs=/srv/a,b/data:ro,nosuid,nodev,mode=755,size=1048576');
  });

  it('sees a mount in place of a temporary folder', async () => {
    const { args } = await launchOf({ shown: [{ from: '/tmp', isWritable: true }] });
    expect(args).toContain('--mount=type=bind,source=/tmp,target=/tmp');
    expect(args.join(' ')).not.toContain('--tmpfs=/tmp:');
  });

  it('is identified by its name, label and environment variable', async () => {
    const { args, environment } = await launchOf();
    const name =
      args.find((argument) => argument.startsWith('--name='))?.slice('--name='.length) ?? '';
    expect(ownerIn(name)).toEqual({ pid: 12, startTime: '345' });
    expect(args).toContain('--label=automation-controller.installation=abc');
    expect(args).toContain('--env=AUTOMATION_CONTROLLER_RUN=7:1:key');
    expect(environment.AUTOMATION_CONTROLLER_RUN).toBe('7:1:key');
    expect(ownerIn('somebody-elses')).toBeNull();
  });

  it('starts the engine without the environment of the run, and does not show it in the arguments', async () => {
    const { args, environment } = await launchOf();
    expect(environment).toEqual({ ...engineEnvironment(), AUTOMATION_CONTROLLER_RUN: '7:1:key' });
    expect(JSON.stringify({ args, environment })).not.toMatch(/secret|evil|\/worker\/bin/);
  });

  it('uses the network of the host only if that is permitted', async () => {
    expect((await launchOf({}, true)).args).toContain('--network=host');
  });

  it('keeps its user id in a user namespace, with its own process limit', async () => {
    const { args } = await launchOf({ isRoot: false });
    expect(args).toEqual(expect.arrayContaining(['--userns=keep-id', '--ulimit=nproc=99:99']));
  });

  it('passes no Podman options to Docker', async () => {
    const { args } = await launchOf({ isPodman: false, engine: 'docker', isRoot: false });
    expect(args.join(' ')).not.toMatch(
      /userns|http-proxy|read-only-tmpfs|image-volume|log-level|tmpcopyup/,
    );
  });
});

it('an environment is written as a shell script', () => {
  expect(environmentScript(command, spec).split('export ')).toEqual([
    '',
    "HOME='/runner/home'\n",
    "TOKEN='it'\\''s\nsecret'\n",
    "LD_PRELOAD='/runner/evil.so'\n",
    "DOCKER_HOST='tcp://evil'\n",
    "CONTAINERS_CONF='/evil'\n",
    "AUTOMATION_CONTROLLER_RUN='7:1:key'\n",
    "USER='runner'\n",
    "LOGNAME='runner'\n",
    "TMPDIR='/tmp'\n",
  ]);
});

it('the guard ends, and closes its socket, if the engine fails immediately', async () => {
  const codes = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const child = spawn('sh', ['-c', GUARD, 'guard', 'false', 'a-name'], {
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      });
      child.stdio[3]?.on('data', () => undefined);
      return (await once(child, 'close')) as unknown;
    }),
  );
  expect(new Set(codes.map(String))).toEqual(new Set(['1,']));
}, 10_000);
