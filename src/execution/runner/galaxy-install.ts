import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AddressGuard } from '../../outbound/address-guard.js';
import type {
  ContentKind,
  GalaxyServer,
  RequirementFile,
} from '../../projects/project-requirements.js';
import { OUTPUT_TOO_LARGE, repositoryTooLarge } from '../../runs/run-explanations.js';
import type { Sandbox } from '../sandbox/command.js';
import { certificates } from '../sandbox/git-sandbox.js';
import { CommandShell } from './command-shell.js';
import { GIT_SILENCE } from './git-session-files.js';
import { MaskedLines } from './masked-lines.js';
import { createMasker } from './masker.js';
import { withHttpProxy } from './operator-proxy.js';
import { type EarlyEnd, LimitWatch } from './shell-limits.js';

/** Limits and listeners of an installation. */
export interface ContentLimits {
  /** Time of `performance.now()` at which the installation is stopped; no deadline if absent. */
  readonly deadline?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Maximum size of the content, in bytes; unlimited if absent. */
  readonly maxFolderBytes?: number | undefined;
  /** Receives the output as it arrives, with masked secrets. */
  readonly onOutput: (text: string) => void;
}

export interface InstallRequest extends ContentLimits {
  /**
   * Folder of the project, read-only; null if the requirements refer to no file in it. The folder is then
   * hidden, because Galaxy would install a file that has the name of a role.
   */
  readonly projectDir: string | null;
  readonly files: readonly RequirementFile[];
  /** Galaxy servers in the order of their use. */
  readonly servers: readonly GalaxyServer[];
  /**
   * Empty folder for this installation alone; roles and collections are written to its subfolder
   * `content`.
   */
  readonly root: string;
  /** Variables of the administrator; the variables of the guard and the servers take precedence. */
  readonly environment: Readonly<Record<string, string>>;
  readonly ignoresCertificates: boolean;
  readonly guard: AddressGuard;
  readonly sandbox: Sandbox;
}

/** Failed installation. `message` names the violated limit or has the end of the output, without secrets. */
export class ContentError extends Error {
  override readonly name = 'ContentError';
  constructor(
    message: string,
    readonly reason: EarlyEnd | 'failed' = 'failed',
  ) {
    super(message);
  }
}

/**
 * Wrapper of `git` and `hg` that inserts `--` before the address of `clone`. Older releases of Galaxy omit
 * `--`, so that an address such as `--config=…` in the requirements could start any program.
 */
const SCM_WRAPPER = `#!/bin/sh
[ "$1" = clone ] && remaining=$# || remaining=0
for argument; do
  [ "$remaining" -eq 2 ] && [ "$previous" != -- ] && set -- "$@" --
  set -- "$@" "$argument"
  previous=$argument
  shift
  remaining=$((remaining - 1))
done
PATH="\${PATH#*:}" exec "\${0##*/}" "$@"
`;

const INHERITED = /^(PATH|TZ|SSL_CERT_(FILE|DIR)|GIT_SSL_CAINFO|REQUESTS_CA_BUNDLE)$/;
const CONFIG = 'ansible.cfg';
const LAST_LINES = 5;
const MAX_EXPLANATION = 500;

/**
 * Installs the content that requirement files name, with `ansible-galaxy` inside the sandbox. The
 * sandbox shows only these files or the project, and the guard limits the network.
 *
 * @returns the folder with the content
 * @throws ContentError
 */
export async function installContent(request: InstallRequest): Promise<string> {
  const { root, guard, servers } = request;
  const [content, home, bin] = [join(root, 'content'), join(root, 'home'), join(root, 'bin')];
  for (const dir of [content, home, bin, join(content, 'roles'), join(content, 'collections')]) {
    await mkdir(dir, { mode: 0o700 });
  }
  for (const name of ['git', 'hg']) await writeFile(join(bin, name), SCM_WRAPPER, { mode: 0o700 });
  await writeFile(join(home, CONFIG), '', { mode: 0o600 });
  return withHttpProxy(guard, async (proxy, refusals) => {
    const environment = {
      ...request.environment,
      ...installEnvironment(content, home),
      ...proxy,
      ...serverEnvironment(servers),
    };
    await runInstalls(request, { content, home, bin, environment, refusals });
    return content;
  });
}

interface InstallParts {
  readonly content: string;
  readonly home: string;
  /** Folder with the programs that take the place of `git` and `hg`. */
  readonly bin: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly refusals: readonly string[];
}

async function runInstalls(
  request: InstallRequest,
  { content, home, bin, environment, refusals }: InstallParts,
): Promise<void> {
  const { root, files, sandbox, maxFolderBytes, onOutput } = request;
  const from = request.projectDir ?? (await writeFiles(join(root, 'requirements'), files));
  const launch = await sandbox.wrap(
    { file: 'sh', args: [], environment, cwd: home },
    {
      root,
      home,
      name: 'content',
      hasNetwork: true,
      ...(maxFolderBytes === undefined ? {} : { maxFileBytes: maxFolderBytes }),
      binds: [
        ...certificates(),
        { from },
        { from: bin },
        { from: home, isWritable: true },
        { from: content, isWritable: true },
      ],
    },
  );
  const lastLines: string[] = [];
  const lines = new MaskedLines(createMasker(secretsOf(request.servers)), (text) => {
    onOutput(text);
    lastLines.push(...text.split('\n').filter((line) => line.trim() !== ''));
    lastLines.splice(0, lastLines.length - LAST_LINES);
  });
  const shell = CommandShell.start(launch);
  const limits = { ...request, deadline: request.deadline ?? Infinity, folder: root };
  const watch = new LimitWatch(limits, () => shell.stop());
  const listener = {
    onStdout: (text: string) => lines.add(text),
    onStderr: (text: string) => lines.add(text),
  };
  try {
    for (const file of files) {
      const { path } = file;
      onOutput(`Installing the requirements of ${path}\n`);
      const args = galaxyArguments(file, content, request.ignoresCertificates);
      // Extends PATH inside the sandbox, because a container has the PATH of its image.
      const inPath = ['-c', 'PATH="$0:$PATH" exec ansible-galaxy "$@"', bin];
      const command = { file: 'sh', args: [...inPath, ...args], cwd: from, environment: {} };
      const code = await shell.run(command, listener);
      lines.end();
      if (shell.exceededOutputLimit) throw new ContentError(OUTPUT_TOO_LARGE);
      if (watch.reached) throw endedEarly(watch.reached, maxFolderBytes);
      if (code === 0) continue;
      for (const refusal of new Set(refusals)) lines.add(`${refusal}\n`);
      lines.end();
      const reason = lastLines.join(' ').slice(-MAX_EXPLANATION);
      throw new ContentError(`The requirements of ${path} could not be installed: ${reason}`);
    }
  } finally {
    watch.release();
    await shell.close();
  }
}

/** Writes requirement files to a new folder, and returns the folder. */
async function writeFiles(folder: string, files: readonly RequirementFile[]): Promise<string> {
  for (const { path, text } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o755 });
    await writeFile(join(folder, path), text, { mode: 0o644 });
  }
  return folder;
}

const COMMANDS: Record<ContentKind, readonly string[]> = {
  roles: ['role', 'install'],
  collections: ['collection', 'install'],
  // Without a kind Galaxy installs both, to the folders that the environment names.
  both: ['install'],
};

function galaxyArguments(
  { path, kind }: RequirementFile,
  content: string,
  ignoresCertificates: boolean,
): string[] {
  return [
    ...COMMANDS[kind],
    ...(ignoresCertificates ? ['--ignore-certs'] : []),
    ...['-r', path],
    ...(kind === 'both' ? [] : ['-p', join(content, kind)]),
  ];
}

function installEnvironment(content: string, home: string): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => INHERITED.test(name));
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    LC_ALL: 'C.UTF-8',
    PYTHONUNBUFFERED: '1',
    ANSIBLE_NOCOLOR: '1',
    // The project's own configuration is not used: it must not change how the organization's
    // servers are reached.
    ANSIBLE_CONFIG: join(home, CONFIG),
    ANSIBLE_ROLES_PATH: join(content, 'roles'),
    ANSIBLE_COLLECTIONS_PATH: join(content, 'collections'),
    GIT_ALLOW_PROTOCOL: 'http:https',
    GIT_TERMINAL_PROMPT: '0',
    ...GIT_SILENCE,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
}

/** Returns the Ansible settings of the servers; their order is the order of use. */
function serverEnvironment(servers: readonly GalaxyServer[]): Record<string, string> {
  const entries = servers.flatMap(({ url, authUrl, token }, index) => {
    const name = `ANSIBLE_GALAXY_SERVER_SERVER${index}`;
    const settings = { URL: url, AUTH_URL: authUrl, TOKEN: token };
    return Object.entries(settings)
      .filter(([, value]) => value !== '')
      .map(([setting, value]) => [`${name}_${setting}`, value] as const);
  });
  const names = servers.map((_, index) => `server${index}`);
  return { ANSIBLE_GALAXY_SERVER_LIST: names.join(','), ...Object.fromEntries(entries) };
}

const secretsOf = (servers: readonly GalaxyServer[]): string[] =>
  servers.map(({ token }) => token).filter((token) => token !== '');

function endedEarly(reason: EarlyEnd, maxFolderBytes = 0): ContentError {
  const texts: Record<EarlyEnd, string> = {
    canceled: 'The installation was canceled.',
    timeout: 'The installation did not finish in the allowed time.',
    full: repositoryTooLarge(maxFolderBytes),
  };
  return new ContentError(texts[reason], reason);
}
