import { parseArgs } from 'node:util';
import { PasswordHasher } from '../common/crypto/password-hash.js';
import { issueToken } from '../common/crypto/tokens.js';
import { Settings } from '../config/settings.js';
import { openDataSource } from './migrate.js';

/** Makes a superuser, or makes an existing user one; a given password replaces the present one. */
async function saveSuperuser(username: string, password: string): Promise<void> {
  const hash = password === '' ? '' : await new PasswordHasher().hash(password);
  const source = await openDataSource();
  try {
    await source.query(
      `INSERT INTO users (username, password_hash, is_superuser) VALUES ($1, $2, true)
       ON CONFLICT (username) DO UPDATE SET is_superuser = true, modified = now(),
         password_hash = CASE WHEN $2 = '' THEN users.password_hash ELSE $2 END`,
      [username, hash],
    );
  } finally {
    await source.destroy();
  }
}

export async function createSuperuser(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: { username: { type: 'string' }, password: { type: 'string' } },
  });
  const password = values.password ?? process.env.ADMIN_PASSWORD ?? '';
  if (!values.username || password === '') {
    process.stderr.write('Give --username and --password (or ADMIN_PASSWORD).\n');
    return 2;
  }
  await saveSuperuser(values.username, password);
  process.stdout.write(`${values.username} is a superuser\n`);
  return 0;
}

/** Makes the first administrator from ADMIN_USERNAME and ADMIN_PASSWORD when nobody is superuser. */
export async function ensureAdmin(): Promise<number> {
  const { ADMIN_USERNAME, ADMIN_PASSWORD } = Settings.load(process.env);
  const source = await openDataSource();
  const [found] = await source.query<unknown[]>(`SELECT 1 FROM users WHERE is_superuser LIMIT 1`);
  await source.destroy();
  if (found) {
    process.stdout.write('an administrator exists\n');
    return 0;
  }
  if (ADMIN_PASSWORD === '') {
    process.stderr.write('ADMIN_PASSWORD must be set for the first administrator.\n');
    return 2;
  }
  await saveSuperuser(ADMIN_USERNAME, ADMIN_PASSWORD);
  process.stdout.write(`made administrator ${ADMIN_USERNAME}\n`);
  return 0;
}

/** Prints a new access token of a user; the only time it is shown. */
export async function createToken(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      username: { type: 'string' },
      scope: { type: 'string', default: 'write' },
      description: { type: 'string', default: 'made by the command line' },
    },
  });
  const settings = Settings.load(process.env);
  const { token, digest } = issueToken();
  const source = await openDataSource();
  try {
    const made = await source.query<unknown[]>(
      `INSERT INTO tokens (description, scope, user_id, digest, expires)
       SELECT $1, $2, id, $3, now() + make_interval(secs => $4) FROM users WHERE username = $5
       RETURNING id`,
      [values.description, values.scope, digest, settings.TOKEN_EXPIRY, values.username],
    );
    if (made.length === 0) {
      process.stderr.write(`No user ${values.username ?? ''}.\n`);
      return 1;
    }
    process.stdout.write(`${token}\n`);
    return 0;
  } finally {
    await source.destroy();
  }
}
