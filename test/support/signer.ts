import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
export const SUMS = '.ansible-sign/sha256sum.txt';

/** A GPG key that signs the files of projects. */
export class Signer {
  private constructor(
    readonly home: string,
    readonly publicKey: string,
  ) {}

  static async create(home: string): Promise<Signer> {
    await mkdir(home, { mode: 0o700 });
    const batch = ['--homedir', home, '--batch', '--passphrase', ''];
    await execute('gpg', [...batch, '--quick-gen-key', 'signer@example.org', 'ed25519', 'sign']);
    const { stdout } = await execute('gpg', [...batch, '--armor', '--export']);
    return new Signer(home, stdout);
  }

  /** Writes the checksums of files and their signature, as `ansible-sign` does. */
  async sign(dir: string, paths: readonly string[]): Promise<void> {
    const sums = await Promise.all(
      paths.toSorted().map(async (path) => {
        const content = await readFile(join(dir, path));
        return `${createHash('sha256').update(content).digest('hex')}  ${path}\n`;
      }),
    );
    const file = join(dir, SUMS);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, sums.join(''));
    const options = ['--homedir', this.home, '--batch', '--yes', '--armor', '--detach-sign'];
    await execute('gpg', [...options, '--output', `${file}.sig`, file]);
  }

  end(): Promise<unknown> {
    return execute('gpgconf', ['--homedir', this.home, '--kill', 'gpg-agent']);
  }
}
