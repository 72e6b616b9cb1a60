import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkSshKey, repairSshKey } from '../../credentials/types/ssh-key.js';
import { RunnerError } from '../../runs/runner-error.js';
import { writePrivateFile } from './workspace.js';

const run = promisify(execFile);
const CHECK_TIMEOUT_MS = 10_000;
const SHELL_SAFE_PATH = /^[\w./-]+$/;

/**
 * Returns a key in the format of ssh tools. Keys of external secret stores, and keys that earlier
 * versions stored, were not repaired when they were saved.
 */
export function normalizeKey(key: string): string {
  return checkSshKey(key).fault === null
    ? repairSshKey(key)
    : `${key.replaceAll('\r\n', '\n').trim()}\n`;
}

/**
 * Checks that a private key is usable, because the agent would prompt for the passphrase
 * endlessly. Accepts every key if `ssh-keygen` is not installed.
 *
 * @param dir private folder for temporary files
 * @throws RunnerError if the key cannot be read or unlocked, or the path of `dir` would need quotes
 */
export async function checkPrivateKey(keyFile: string, unlock: string, dir: string): Promise<void> {
  // The runner inserts this path into a shell command without quotes.
  if (!SHELL_SAFE_PATH.test(dir)) {
    throw new RunnerError(
      'SSH keys need a data folder whose path has only letters, digits, ".", "_", "-" and "/".',
    );
  }
  const askpass = join(dir, 'askpass');
  const passphraseFile = join(dir, 'askpass-answer');
  await writePrivateFile(passphraseFile, `${unlock}\n`);
  await writePrivateFile(askpass, '#!/bin/sh\nexec cat "${0}-answer"\n', 0o700);
  try {
    await run('ssh-keygen', ['-y', '-f', keyFile], {
      timeout: CHECK_TIMEOUT_MS,
      env: {
        PATH: process.env['PATH'],
        SSH_ASKPASS: askpass,
        SSH_ASKPASS_REQUIRE: 'force',
      },
    });
  } catch (error) {
    if (isMissingTool(error)) return;
    throw new RunnerError(
      'The SSH private key cannot be used: it is damaged, or its passphrase is missing or wrong.',
    );
  } finally {
    await rm(askpass, { force: true });
    await rm(passphraseFile, { force: true });
  }
}

function isMissingTool(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
