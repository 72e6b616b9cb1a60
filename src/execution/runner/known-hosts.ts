import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

import { readBelow } from './left-files.js';

const NAME = 'known_hosts';
/** The files of all hosts ever seen are far smaller. */
const MAX_BYTES = 4 * 1024 * 1024;
const KEY = /^(\S+) [\w.@-]+ [\w+/=]+$/;

/**
 * The hosts that ssh knows by their keys. A session works on a copy of the account's own file, and what
 * ssh has learnt there is taken over: only for hosts it was sent to and did not know, because whatever
 * has gone wrong inside could have written there, too.
 */
export class KnownHosts {
  private constructor(
    private readonly home: string,
    private readonly known: string,
  ) {}

  /** @param home folder that ssh may write to */
  static async open(home: string): Promise<KnownHosts> {
    const known = await readFile(accountFile(), 'utf8').catch(() => '');
    await writeFile(join(home, NAME), known, { mode: 0o600 });
    return new KnownHosts(home, known);
  }

  /** The file of the session. */
  get path(): string {
    return join(this.home, NAME);
  }

  /** @param names hosts that ssh was sent to, as it calls them */
  async learn(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const now = (await readBelow({ dir: this.home }, [NAME], MAX_BYTES)) ?? '';
    const knownNames = new Set(this.known.split('\n').map(nameOf));
    const fresh = now.split('\n').filter((line) => {
      const name = nameOf(line);
      return name !== undefined && names.includes(name) && !knownNames.has(name);
    });
    if (fresh.length === 0) return;
    const file = accountFile();
    // An account without a home remembers none, as ever.
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      .then(() => appendFile(file, `${fresh.join('\n')}\n`, { mode: 0o600 }))
      .catch(() => undefined);
  }
}

const nameOf = (line: string): string | undefined => KEY.exec(line)?.[1];

/** By `HOME`: an account of the set-up has its home in the data folder, and none where ssh would look. */
const accountFile = (): string => join(homedir(), '.ssh', NAME);
