import { createCipheriv, createDecipheriv, createHash, randomBytes, scryptSync } from 'node:crypto';

const PREFIX = '$sealed$v1$';
const SHAPE = /^\$sealed\$v1\$([0-9a-f]{8})\$([A-Za-z0-9_-]+)$/;
const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Cost of key stretching: about 50 ms once per process and key, so that guessing a short SECRET_KEY is
 * not worthwhile.
 */
const STRETCH = { N: 2 ** 14, r: 8, p: 1 } as const;

/** Reason why a sealed value could not be opened. */
export type UnsealReason = 'format' | 'unknown_key' | 'tampered';

/**
 * Error of `SecretBox.open`: the text is not a sealed value, was sealed with an unknown key, or was
 * changed or moved. The message never contains the value itself, and can be shown to users.
 */
export class UnsealError extends Error {
  /** @param subject start of the message */
  constructor(
    readonly reason: UnsealReason,
    subject = 'A stored secret',
  ) {
    super(`${subject} cannot be decrypted (${reason}).`);
    this.name = 'UnsealError';
  }
}

interface BoxKey {
  id: string;
  key: Buffer;
}

/** Derives an independent 256-bit key for one purpose from the installation's secret. */
function deriveKey(secretKey: string, purpose: string): Buffer {
  if (secretKey === '') throw new Error('The secret key must not be empty.');
  return scryptSync(secretKey, `automation-controller/${purpose}`, 32, STRETCH);
}

/**
 * Returns the associated data that binds a sealed value to its row and column: a value that is copied
 * into another row or column does not open there. JSON separates the parts, so `('a', 1, '2:b')`
 * differs from `('a:1', 2, 'b')`.
 */
export function rowContext(table: string, id: number | string, field: string): string {
  return JSON.stringify([table, String(id), field]);
}

/** Returns true if a stored text begins like a sealed value. */
export function isSealed(text: string): boolean {
  return text.startsWith(PREFIX);
}

/**
 * Seals secrets with AES-256-GCM as `$sealed$v1$<key id>$<base64url of iv, tag, ciphertext>`.
 *
 * The first secret key seals; all secret keys open. To rotate the secret key, put the new key first, reseal
 * all values for which `needsReseal` is true, then remove the old key.
 */
export class SecretBox {
  readonly #primary: BoxKey;
  readonly #keys: ReadonlyMap<string, BoxKey>;

  /**
   * Derives the keys once (about 50 ms each). Keep one instance per process.
   *
   * @param previous key before the last rotation; empty if there is none
   */
  constructor(primary: string, previous = '') {
    this.#primary = toBoxKey(primary);
    const keys = previous === '' ? [this.#primary] : [this.#primary, toBoxKey(previous)];
    this.#keys = new Map(keys.map((key) => [key.id, key]));
  }

  /** Id of the key that seals new values; safe to log. */
  get keyId(): string {
    return this.#primary.id;
  }

  /**
   * Seals `plain` for the row and column named by `context` (see `rowContext`). Two calls never return
   * the same text.
   */
  seal(plain: string, context: string): string {
    const { id, key } = this.#primary;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(associatedData(id, context));
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    const body = Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
    return `${PREFIX}${id}$${body}`;
  }

  /**
   * Returns the plain text of a sealed value.
   *
   * @throws UnsealError if the text is not a sealed value, or the value was changed, moved, or sealed with an
   *   unknown key
   */
  open(token: string, context: string): string {
    const [, id, body] = SHAPE.exec(token) ?? [];
    if (id === undefined || body === undefined) throw new UnsealError('format');
    const known = this.#keys.get(id);
    if (!known) throw new UnsealError('unknown_key');
    const bytes = Buffer.from(body, 'base64url');
    if (bytes.length < IV_BYTES + TAG_BYTES) throw new UnsealError('format');
    // Several base64url texts decode to the same bytes; only the canonical one is accepted.
    if (bytes.toString('base64url') !== body) throw new UnsealError('format');
    return decrypt(known, bytes, context);
  }

  /** Returns true if the value was sealed with another key than the first, or is not sealed. */
  needsReseal(token: string): boolean {
    return SHAPE.exec(token)?.[1] !== this.#primary.id;
  }
}

function decrypt({ id, key }: BoxKey, bytes: Buffer, context: string): string {
  const iv = bytes.subarray(0, IV_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(associatedData(id, context));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  try {
    const start = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
    return Buffer.concat([start, decipher.final()]).toString('utf8');
  } catch {
    throw new UnsealError('tampered');
  }
}

/**
 * Returns the authenticated data. The data includes the header, so a value cannot be relabeled with another
 * version or key.
 */
function associatedData(keyId: string, context: string): Buffer {
  return Buffer.from(`${PREFIX}${keyId}$${context}`, 'utf8');
}

function toBoxKey(secretKey: string): BoxKey {
  const key = deriveKey(secretKey, 'secret-box/v1');
  const id = createHash('sha256').update('key-id').update(key).digest('hex').slice(0, 8);
  return { id, key };
}
