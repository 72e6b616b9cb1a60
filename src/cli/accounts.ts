import { parseArgs } from 'node:util';
import { TokensRepository } from '../auth/tokens.repository.js';
import { PasswordHasher } from '../common/crypto/password-hash.js';
import { issueToken } from '../common/crypto/tokens.js';
import { Settings } from '../config/settings.js';
import { ExternalIdentity } from '../identity/authenticator.entity.js';
import { ExternalIdentitiesRepository } from '../identity/external-identities.repository.js';
import { UsersRepository } from '../users/users.repository.js';
import { withDatabase } from './migrate.js';
import { User } from '../users/user.entity.js';
import { Token } from '../auth/token.entity.js';

/**
 * Creates a superuser, or makes an existing user a superuser. The password replaces the existing one, and
 * ends tokens as other changes of passwords do. No login clears the flag.
 */
async function saveSuperuser(username: string, password: string): Promise<void> {
  const { PASSWORD_CHANGE_ENDS_TOKENS: endsTokens } = Settings.load(process.env);
  const hash = await new PasswordHasher().hash(password);
  await withDatabase((database) =>
    database.transaction(async () => {
      const users = new UsersRepository(database.manager.getRepository(User));
      const id = await users.saveSuperuser(username, hash);
      const identities = new ExternalIdentitiesRepository(
        database.manager.getRepository(ExternalIdentity),
      );
      await identities.keepFlag(id, 'is_superuser');
      const tokens = new TokensRepository(database.manager.getRepository(Token));
      if (endsTokens) await tokens.endOthers(id, null);
    }),
  );
}

export async function createSuperuser(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: { username: { type: 'string' }, password: { type: 'string' } },
  });
  const password = values.password ?? process.env.ADMIN_PASSWORD ?? '';
  if (!values.username || password === '') {
    process.stderr.write('Specify --username and --password (or ADMIN_PASSWORD).\n');
    return 2;
  }
  await saveSuperuser(values.username, password);
  process.stdout.write(`${values.username} is a superuser\n`);
  return 0;
}

/** Creates the first administrator from ADMIN_USERNAME and ADMIN_PASSWORD if there is no superuser. */
export async function ensureAdmin(): Promise<number> {
  const { ADMIN_USERNAME, ADMIN_PASSWORD } = Settings.load(process.env);
  const hasSuperuser = await withDatabase((database) =>
    new UsersRepository(database.manager.getRepository(User)).hasSuperuser(),
  );
  if (hasSuperuser) {
    process.stdout.write('an administrator exists\n');
    return 0;
  }
  if (ADMIN_PASSWORD === '') {
    process.stderr.write('ADMIN_PASSWORD must be set for the first administrator.\n');
    return 2;
  }
  await saveSuperuser(ADMIN_USERNAME, ADMIN_PASSWORD);
  process.stdout.write(`created administrator ${ADMIN_USERNAME}\n`);
  return 0;
}

/** Prints a new access token of a user. The token is shown only once. */
export async function createToken(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      username: { type: 'string' },
      scope: { type: 'string', default: 'write' },
      description: { type: 'string', default: 'created by the command line' },
    },
  });
  const { username, scope, description } = values;
  if (!username) {
    process.stderr.write('Specify --username.\n');
    return 2;
  }
  if (scope !== 'read' && scope !== 'write') {
    process.stderr.write(`--scope must be read or write, not ${scope}.\n`);
    return 2;
  }
  const settings = Settings.load(process.env);
  const { token, digest } = issueToken();
  const lifetimeSeconds = settings.TOKEN_EXPIRY;
  const isCreated = await withDatabase((database) =>
    new TokensRepository(database.manager.getRepository(Token)).addByName(username, {
      description,
      scope,
      digest,
      lifetimeSeconds,
    }),
  );
  process.stdout.write(isCreated ? `${token}\n` : '');
  if (!isCreated) process.stderr.write(`No user ${username}.\n`);
  return isCreated ? 0 : 1;
}
