import { Injectable } from '@nestjs/common';
import {
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importPKCS8,
  SignJWT,
  type JWK,
  type JWTPayload,
} from 'jose';
import { rowContext, SecretBox } from '../common/crypto/secret-box.js';
import { Database } from '../database/database.js';
import { SigningKeysRepository, type AgedKey } from './signing-keys.repository.js';

/** Maximum lifetime of an identity token, in seconds. */
export const MAX_TOKEN_SECONDS = 24 * 60 * 60;
/** Seconds between the publication of a new key and its first use, so that verifiers know the key. */
const PUBLISHED_FIRST_SECONDS = 60 * 60;
/** Tolerated difference of clocks, in seconds. */
const CLOCK_SECONDS = 5 * 60;

/** Returns the key that signs: the newest key that verifiers know, or else the oldest key. */
export function signingKey<Key extends { age: number }>(keys: readonly Key[]): Key | undefined {
  const newestFirst = keys.toSorted((left, right) => left.age - right.age);
  return newestFirst.find(({ age }) => age >= PUBLISHED_FIRST_SECONDS) ?? newestFirst.at(-1);
}

/** Returns the published keys: keys that sign, will sign, or signed tokens that can still be valid. */
export function publishedKeys<Key extends { age: number }>(keys: readonly Key[]): Key[] {
  const maxAge = PUBLISHED_FIRST_SECONDS + MAX_TOKEN_SECONDS + CLOCK_SECONDS;
  return keys.filter(({ age }) => !keys.some((other) => other.age < age && other.age > maxAge));
}

/** Algorithm that all verifiers of OpenID Connect know. */
export const ALGORITHM = 'RS256';

const sealContext = (id: string): string => rowContext('signing_keys', id, 'private_key');

/** Keys that sign the identity tokens of runs. The first key is generated on its first use. */
@Injectable()
export class SigningKeys {
  /** The first key while it is generated, so that parallel requests generate only one key. */
  private first: Promise<AgedKey[]> | undefined;

  constructor(
    private readonly keys: SigningKeysRepository,
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  /** Returns the public keys that can verify tokens. */
  async published(): Promise<JWK[]> {
    return publishedKeys(await this.existing()).map(({ id, public_key }) => ({
      ...public_key,
      kid: id,
      use: 'sig',
      alg: ALGORITHM,
    }));
  }

  async sign(claims: JWTPayload): Promise<string> {
    const key = signingKey(await this.existing());
    if (!key) throw new Error('There is no signing key.');
    const pem = this.box.open(key.private_key, sealContext(key.id));
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, kid: key.id, typ: 'JWT' })
      .sign(await importPKCS8(pem, ALGORITHM));
  }

  /**
   * Adds a key, which signs after {@link PUBLISHED_FIRST_SECONDS}, and removes keys that are no longer
   * published.
   *
   * @returns id of the new key
   */
  async rotate(): Promise<string> {
    const key = await this.generate();
    await this.database.transaction(async () => {
      await this.keys.lock();
      await this.keys.insert(key);
      const all = await this.keys.all();
      const published = new Set(publishedKeys(all).map(({ id }) => id));
      const old = all.flatMap(({ id }) => (published.has(id) ? [] : [id]));
      if (old.length > 0) await this.keys.delete(old);
    });
    return key.id;
  }

  private async existing(): Promise<AgedKey[]> {
    const found = await this.keys.all();
    if (found.length > 0) return found;
    return (this.first ??= this.addFirst().finally(() => (this.first = undefined)));
  }

  private async addFirst(): Promise<AgedKey[]> {
    const key = await this.generate();
    return this.database.transaction(async () => {
      await this.keys.lock();
      if ((await this.keys.all()).length === 0) await this.keys.insert(key);
      return this.keys.all();
    });
  }

  private async generate() {
    const pair = await generateKeyPair(ALGORITHM, { extractable: true });
    const public_key = await exportJWK(pair.publicKey);
    const id = await calculateJwkThumbprint(public_key);
    const pem = await exportPKCS8(pair.privateKey);
    return { id, public_key, private_key: this.box.seal(pem, sealContext(id)) };
  }
}
