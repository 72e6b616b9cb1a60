import { Injectable, Logger } from '@nestjs/common';
import { ResultCodeError, type Client, type Entry, type Filter } from 'ldapts';
import { partsOf } from '../common/fields/text.js';
import { SecretBox, UnsealError } from '../common/crypto/secret-box.js';
import { messageOf, Unavailable } from '../common/errors/errors.js';
import { OutboundClient } from '../outbound/outbound-client.js';
import { translateError } from '../outbound/outbound-error.js';
import type { AuthenticatorOf } from './authenticator.entity.js';
import { secretContext } from './authenticator.hooks.js';
import type { Claims } from './external-rights.js';
import {
  BINARY_ATTRIBUTES,
  claimsOf,
  groupFilter,
  isPartial,
  loginFilter,
  searchBase,
  subjectsFilter,
  userAttributes,
  userDn,
  userFilter,
} from './ldap-claims.js';
import { openDirectory } from './ldap-connection.js';

type Directory = AuthenticatorOf<'ldap'>;

/** Timeout of an operation, including attempts at other servers of the directory. */
const TOTAL_MS = 10_000;
/** Time for which a server that did not respond is skipped. */
const UNAVAILABLE_MS = 10_000;
const RETRY_SECONDS = 5;

const BUSY = 51;
const UNAVAILABLE = 52;
/**
 * Result codes of a refused bind: constraint violation (too many attempts), no such object,
 * inappropriate authentication (no password), invalid credentials, unwilling to perform (disabled).
 */
const REFUSALS: ReadonlySet<number> = new Set([19, 32, 48, 49, 53]);

/** Fault of a directory. The other servers of the directory would repeat the fault. */
class DirectoryFault extends Error {}

/** Reads users and groups from LDAP directories, and verifies passwords. */
@Injectable()
export class LdapClient {
  private readonly logger = new Logger('SingleSignOn');
  /**
   * Servers that did not respond, by URL and encryption: the reason, and the time in ms until which
   * the server is skipped.
   */
  private readonly unavailable = new Map<string, { reason: string; until: number }>();

  constructor(
    private readonly outbound: OutboundClient,
    private readonly box: SecretBox,
  ) {}

  /**
   * Returns the claims of a user.
   *
   * @param password password to verify with a bind; null for a test, which skips no server
   * @returns null if there is no such user, or the password is wrong
   * @throws Unavailable if no server responds, or the configuration is wrong
   */
  async claims(
    directory: Directory,
    username: string,
    password: string | null,
  ): Promise<Claims | null> {
    // Servers accept an empty password as an anonymous login.
    if (username === '' || password === '') return null;
    if (password === null) this.unavailable.clear();
    return this.withServer(directory, (client) => this.read(client, directory, username, password));
  }

  /**
   * Returns the subjects whose accounts are in the directory and can log in.
   *
   * @param subjects values of the id attribute, or DNs of accounts without it
   * @throws Unavailable if no server responds, or the configuration is wrong
   */
  present(directory: Directory, subjects: readonly string[]): Promise<string[]> {
    return this.withServer(directory, async (client) => {
      await this.bindAccount(client, directory);
      const { configuration } = directory;
      const found: Entry[] = [];
      const attributes = userAttributes(configuration);
      const filter = loginFilter(configuration);
      for (const dn of subjects.filter(isDn)) {
        const entry = await entryOf(client, dn, attributes, filter).catch(missing);
        if (entry) found.push(entry);
      }
      const ids = subjects.filter((subject) => !isDn(subject));
      if (ids.length > 0) {
        const { searchEntries } = await client.search(searchBase(configuration), {
          scope: configuration.user_scope,
          filter: subjectsFilter(configuration, ids),
          attributes,
          explicitBufferAttributes: BINARY_ATTRIBUTES,
        });
        found.push(...searchEntries);
      }
      return found.map((entry) => String(claimsOf(configuration, entry, []).sub));
    });
  }

  /**
   * Binds the search account.
   *
   * @returns the URL of the server that responded
   */
  probe(directory: Directory): Promise<string> {
    this.unavailable.clear();
    return this.withServer(directory, async (client, server) => {
      await this.bindAccount(client, directory);
      return server;
    });
  }

  private async read(
    client: Client,
    directory: Directory,
    username: string,
    password: string | null,
  ): Promise<Claims | null> {
    const { configuration } = directory;
    const { user_dn_template: template, bind_dn: account } = configuration;
    let entry: Entry | undefined;
    if (template === '' || password === null) await this.bindAccount(client, directory);
    if (template === '') {
      entry = await this.find(client, directory, username);
      if (!entry) return null;
    }
    const dn = entry?.dn ?? userDn(template, username);
    if (password !== null) {
      if (!(await isPasswordOf(client, dn, password))) return null;
      if (account !== '') await this.bindAccount(client, directory);
    }
    entry ??= await entryOf(client, dn, userAttributes(configuration));
    if (!entry) return null;
    if (isPartial(entry)) throw new DirectoryFault('it returned only a part of the groups');
    const filter = groupFilter(configuration, entry);
    if (!filter) return claimsOf(configuration, entry, null);
    const { searchEntries: groups } = await client.search(configuration.group_base, {
      filter,
      attributes: ['1.1'],
    });
    return claimsOf(
      configuration,
      entry,
      groups.map((group) => group.dn),
    );
  }

  private async find(
    client: Client,
    { slug, configuration }: Directory,
    username: string,
  ): Promise<Entry | undefined> {
    const { searchEntries: found } = await client.search(configuration.user_base, {
      scope: configuration.user_scope,
      filter: userFilter(configuration, username),
      attributes: userAttributes(configuration),
      explicitBufferAttributes: BINARY_ATTRIBUTES,
      sizeLimit: 2,
    });
    if (found.length < 2) return found[0];
    this.logger.warn({ message: 'login failed', authenticator: slug, reason: 'several users' });
    return undefined;
  }

  private async bindAccount(client: Client, { id, configuration }: Directory): Promise<void> {
    const { bind_dn: dn, bind_password: sealed } = configuration;
    if (dn === '') return;
    await client.bind(dn, this.box.open(sealed, secretContext(id, 'bind_password')));
  }

  /** Calls a function with a connection to the first server that responds. */
  private async withServer<T>(
    { name, slug, configuration }: Directory,
    use: (client: Client, server: string) => Promise<T>,
  ): Promise<T> {
    const deadline = Date.now() + TOTAL_MS;
    let reason = 'it has no server';
    for (const server of partsOf(configuration.servers, '\n')) {
      const key = JSON.stringify([server, configuration.start_tls, configuration.ca]);
      const failure = this.unavailable.get(key);
      if (failure && failure.until > Date.now()) {
        reason = failure.reason;
        continue;
      }
      if (Date.now() >= deadline) break;
      try {
        return await this.withConnection(server, configuration, deadline, use);
      } catch (error) {
        reason = reasonOf(error, server);
        this.logger.warn({ message: 'directory failed', authenticator: slug, server, reason });
        if (isFinal(error)) break;
        this.unavailable.set(key, { reason, until: Date.now() + UNAVAILABLE_MS });
      }
    }
    throw new Unavailable(RETRY_SECONDS, `The directory ${name} failed: ${reason}.`);
  }

  private async withConnection<T>(
    server: string,
    configuration: Directory['configuration'],
    deadline: number,
    work: (client: Client, server: string) => Promise<T>,
  ): Promise<T> {
    const client = await openDirectory(this.outbound.guard, server, configuration, deadline);
    const close = (): void => void client.unbind().catch(() => undefined);
    const expired = setTimeout(close, Math.max(1, deadline - Date.now()));
    try {
      return await work(client, server);
    } finally {
      clearTimeout(expired);
      close();
    }
  }
}

async function isPasswordOf(client: Client, dn: string, password: string): Promise<boolean> {
  try {
    await client.bind(dn, password);
    return true;
  } catch (error) {
    if (error instanceof ResultCodeError && REFUSALS.has(error.code)) return false;
    throw error;
  }
}

async function entryOf(
  client: Client,
  dn: string,
  attributes: string[],
  filter?: Filter,
): Promise<Entry | undefined> {
  const { searchEntries } = await client.search(dn, {
    scope: 'base',
    ...(filter ? { filter } : {}),
    attributes,
    explicitBufferAttributes: BINARY_ATTRIBUTES,
  });
  return searchEntries[0];
}

const isDn = (subject: string): boolean => subject.includes('=');

const NO_SUCH_OBJECT = 32;

/** Returns undefined for the error "no such object", and throws other errors. */
function missing(error: unknown): undefined {
  if (!(error instanceof ResultCodeError) || error.code !== NO_SUCH_OBJECT) throw error;
}

/** Returns true for an error that the other servers would repeat. */
const isFinal = (error: unknown): boolean =>
  error instanceof DirectoryFault ||
  error instanceof UnsealError ||
  (error instanceof ResultCodeError && ![BUSY, UNAVAILABLE].includes(error.code));

/** Returns a short reason without texts from the server. */
function reasonOf(error: unknown, server: string): string {
  if (error instanceof DirectoryFault) return error.message;
  if (error instanceof UnsealError) return 'its bind password cannot be decrypted, enter it again';
  if (error instanceof ResultCodeError) return `the server responded with ${error.name}`;
  return messageOf(translateError(error, server)).replace(/\.$/, '');
}
