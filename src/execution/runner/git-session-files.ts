import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitSource } from '../../code-hosts/git-source.js';
import type { GitAccess, GitCredential } from './git-command.js';
import { type GitEgress, sshName } from './git-egress.js';
import { checkPrivateKey, normalizeKey } from './ssh-key.js';
import { writePrivateFile } from './workspace.js';

const INHERITED = /^(PATH|LANG|LC_ALL|TZ|HOME|TMPDIR|SSL_CERT_(FILE|DIR)|GIT_SSL_CAINFO)$/;

/** Environment that ends a transfer over HTTP when the host has sent nothing for five minutes. */
export const GIT_SILENCE = { GIT_HTTP_LOW_SPEED_LIMIT: '1', GIT_HTTP_LOW_SPEED_TIME: '300' };

/**
 * Git settings of every call. `safe.directory` permits repositories of other system users. It must
 * be in a file, because git does not pass `-c` to the process that serves a local repository.
 */
const GIT_CONFIG = `[safe]
	directory = *
[core]
	hooksPath = /dev/null
	askPass =
[credential]
	helper =
[protocol "ext"]
	allow = never
[gc]
	auto = 0
[maintenance]
	auto = false
[advice]
	detachedHead = false
[init]
	defaultBranch = main
`;

/**
 * Writes the private files of a session: settings, key, and the script that supplies the
 * credential.
 *
 * @param knownHosts known-hosts file of ssh
 * @returns the environment of its commands
 */
export async function writeSession(
  dir: string,
  { source, credential }: Pick<GitAccess, 'source' | 'credential'>,
  { sshOptions }: Pick<GitEgress, 'sshOptions'>,
  knownHosts: string,
): Promise<Record<string, string>> {
  const file = (name: string): string => join(dir, name);
  await writeFile(file('config'), GIT_CONFIG, { mode: 0o600 });
  const inherited = Object.entries(process.env).filter(([name]) => INHERITED.test(name));
  const askpass = await writeAskpass(file, source, credential);
  const key = credential.sshKeyData ? file('key') : null;
  if (key) {
    await writePrivateFile(key, normalizeKey(credential.sshKeyData ?? ''));
    await checkPrivateKey(key, credential.sshKeyUnlock ?? '', dir);
  }
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: file('config'),
    GIT_TERMINAL_PROMPT: '0',
    ...GIT_SILENCE,
    // Equal imported files have the same commit, also on other workers.
    GIT_AUTHOR_DATE: '@0 +0000',
    GIT_COMMITTER_DATE: '@0 +0000',
    GIT_ASKPASS: askpass,
    SSH_ASKPASS: askpass,
    SSH_ASKPASS_REQUIRE: 'force',
    GIT_SSH_COMMAND: ['ssh', sshOptions, ...sshArguments(key, knownHosts)].join(' '),
  };
}

function sshArguments(key: string | null, knownHosts: string): string[] {
  const options = [
    'StrictHostKeyChecking=accept-new',
    'ConnectTimeout=20',
    'ServerAliveInterval=60',
    `UserKnownHostsFile='${knownHosts}'`,
    ...(key ? ['IdentitiesOnly=yes', 'IdentityAgent=none'] : []),
  ];
  return [...(key ? [`-i '${key}'`] : []), ...options.map((option) => `-o ${option}`)];
}

/**
 * Writes a script that answers only the prompts of the project's own host. The address of a
 * submodule is chosen by the authors of the repository, and must not receive the credential.
 */
async function writeAskpass(
  file: (name: string) => string,
  source: GitSource | null,
  credential: GitCredential,
): Promise<string> {
  const username = credential.username || source?.username || '';
  const password = credential.password || source?.password || '';
  const encoded = encodeURIComponent(username).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const origin = `${source?.scheme}://`;
  const answers: [string, string][] = [
    [`Username for '${origin}${source?.host}': `, username],
    [`Password for '${origin}${encoded}@${source?.host}': `, password],
    [`${username}@${source ? sshName(source) : ''}'s password: `, password],
    [`Enter passphrase for key '${file('key')}': `, credential.sshKeyUnlock ?? ''],
  ];
  const lines = ['#!/bin/sh'];
  for (const [index, [prompt, answer]] of answers.entries()) {
    await writePrivateFile(file(`prompt-${index}`), prompt);
    await writePrivateFile(file(`answer-${index}`), `${answer}\n`);
    if (answer === '') continue;
    lines.push(
      `if [ "$1" = "$(cat "\${0%/*}/prompt-${index}")" ]; then exec cat "\${0%/*}/answer-${index}"; fi`,
    );
  }
  lines.push('exit 1', '');
  await writePrivateFile(file('askpass'), lines.join('\n'), 0o700);
  return file('askpass');
}
