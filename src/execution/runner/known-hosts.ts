import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { readBelow } from './untrusted-files.js';

const NAME = 'known_hosts';
/** Maximum size of the file, in bytes; real files are far smaller. */
const MAX_BYTES = 4 * 1024 * 1024;
const KEY = /^(\S+) [\w.@-]+ [\w+/=]+$/;

/**
 * Host keys known to ssh. A session works on a copy of the account's own file. New keys are copied
 * back only for hosts that ssh connected to and that were unknown, because compromised code inside
 * the sandbox can write to the copy, too.
 */
export class KnownHosts {
  private constructor(
    private readonly home: string,
    private readonly accountKeys: string,
  ) {}

  /** @param home folder that ssh can write to */
  static async open(home: string): Promise<KnownHosts> {
    const accountKeys = await readFile(accountFile(), 'utf8').catch(() => '');
    await writeFile(join(home, NAME), accountKeys, { mode: 0o600 });
    return new KnownHosts(home, accountKeys);
  }

  /** Path of the session's file. */
  get path(): string {
    return join(this.home, NAME);
  }

  /**
   * Copies new host keys of the session to the account's file.
   *
   * @param names hosts that ssh connected to, in the notation of ssh
   */
  async storeNewKeys(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const sessionKeys = (await readBelow({ dir: this.home }, [NAME], MAX_BYTES)) ?? '';
    const knownNames = new Set(this.accountKeys.split('\n').map(hostNameOf));
    const newKeys = sessionKeys.split('\n').filter((line) => {
      const name = hostNameOf(line);
      return name !== undefined && names.includes(name) && !knownNames.has(name);
    });
    if (newKeys.length === 0) return;
    const file = accountFile();
    // Without a writable home directory the account stores no keys.
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      .then(() => appendFile(file, `${newKeys.join('\n')}\n`, { mode: 0o600 }))
      .catch(() => undefined);
  }
}

const hostNameOf = (line: string): string | undefined => KEY.exec(line)?.[1];

/**
 * Returns the path below `HOME`. ssh itself uses the home directory of the passwd entry, which does not exist
 * for the account that `npm start` creates. `npm start` sets `HOME` to a folder below `DATA_DIR`.
 */
const accountFile = (): string => join(homedir(), '.ssh', NAME);
