import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** Cost of scrypt: N = 2 ** logN, block size r, parallelization p. */
export interface ScryptCost {
  logN: number;
  r: number;
  p: number;
}

/** OWASP's recommendation with the least memory (16 MB per check); about 0.15 s on one core. */
const DEFAULT_COST: Readonly<ScryptCost> = { logN: 14, r: 8, p: 5 };

/**
 * Upper limits of a stored hash. A hash beyond them is damaged or hostile: its check could take minutes
 * or all memory.
 */
const CEILING: Readonly<ScryptCost> = { logN: 17, r: 16, p: 16 };

const SALT_BYTES = 16;
const KEY_BYTES = 32;
const SHAPE =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9_-]{16,128})\$([A-Za-z0-9_-]{43})$/;

/**
 * Limits of password hashing. scrypt shares four threads with DNS and file access, so passwords use at
 * most three. Two threads verify passwords; the last check of a full queue waits two to three seconds.
 * One thread hashes new passwords, alternating between callers; the last of a caller's full queue waits
 * 15 seconds.
 */
const CHECKS = { concurrent: 2, waiting: 32 };
const HASHES = { concurrent: 1, waiting: 100 };

/** Error if the queue of checks, or a caller's queue of new passwords, is full. */
export class PasswordQueueFull extends Error {
  override readonly name = 'PasswordQueueFull';
}

interface QueueLimits {
  /** Maximum number of concurrent tasks of all callers together. */
  concurrent: number;
  /** Maximum number of waiting tasks of each caller. */
  waiting: number;
}

/** Runs a limited number of tasks concurrently, and alternates between the callers that wait. */
class FairQueue {
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(private readonly limits: QueueLimits) {}

  /** @throws PasswordQueueFull */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    await this.#enter(caller);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(caller: string): Promise<void> {
    if (this.#running < this.limits.concurrent) {
      this.#running += 1;
      return;
    }
    const queue = this.#waiting.get(caller) ?? [];
    if (queue.length >= this.limits.waiting) throw new PasswordQueueFull();
    this.#waiting.set(caller, queue);
    await new Promise<void>((resolve) => queue.push(resolve));
  }

  /**
   * Passes the slot to a waiting task, if there is one, instead of freeing it: a new task cannot
   * overtake.
   */
  #leave(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#running -= 1;
      return;
    }
    const [caller, queue] = next;
    const start = queue.shift();
    this.#waiting.delete(caller);
    if (queue.length > 0) this.#waiting.set(caller, queue);
    start?.();
  }
}

interface ParsedHash {
  cost: ScryptCost;
  salt: Buffer;
  key: Buffer;
}

export interface PasswordHasherOptions {
  cost?: ScryptCost;
  /** Time in ms for which a successful check is cached; 0 disables the cache. Default 60 s. */
  cacheTtlMs?: number;
  /** Maximum number of cached checks. Default 1000. */
  cacheSize?: number;
  /** Clock, for tests. */
  now?: () => number;
}

/**
 * Hashes passwords with HMAC-SHA256 and scrypt, stored as `$scrypt$ln=14,r=8,p=5$<salt>$<hash>`
 * (base64url).
 *
 * Clients send Basic authentication with every request, so successful checks are cached for a short
 * time. The cache key is a digest of the stored hash and the password, with a secret of this process. A
 * changed password changes the stored hash and therefore immediately misses the cache; failures are never
 * cached.
 */
export class PasswordHasher {
  readonly #cost: ScryptCost;
  readonly #ttlMs: number;
  readonly #size: number;
  readonly #now: () => number;
  readonly #cacheSecret = randomBytes(32);
  readonly #verifiedUntil = new Map<string, number>();
  readonly #pending = new Map<string, Promise<boolean>>();
  readonly #decoySalt = randomBytes(SALT_BYTES);
  readonly #checks = new FairQueue(CHECKS);
  readonly #hashes = new FairQueue(HASHES);

  constructor(options: PasswordHasherOptions = {}) {
    this.#cost = options.cost ?? DEFAULT_COST;
    this.#ttlMs = options.cacheTtlMs ?? 60_000;
    this.#size = options.cacheSize ?? 1000;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Hashes a password with a new salt and the current cost. The hash is expensive: never compute it
   * inside a transaction, or for a caller without permission to set the password.
   *
   * @param caller identifies the caller, for alternating between callers
   * @throws PasswordQueueFull
   */
  async hash(password: string, caller = ''): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const key = await this.#hashes.run(caller, () => deriveScrypt(password, salt, this.#cost));
    const { logN, r, p } = this.#cost;
    return `$scrypt$ln=${logN},r=${r},p=${p}$${salt.toString('base64url')}$${key.toString('base64url')}`;
  }

  /** Returns true if a recent successful check of the password is cached. */
  hasCachedCheck(password: string, stored: string): boolean {
    return this.#isRemembered(this.#cacheKey(password, stored));
  }

  /**
   * Returns true if the password matches the stored hash. For a damaged or empty hash, returns false
   * after the usual time.
   *
   * @throws PasswordQueueFull
   */
  async verify(password: string, stored: string): Promise<boolean> {
    const cacheKey = this.#cacheKey(password, stored);
    if (this.#isRemembered(cacheKey)) return true;
    const running = this.#pending.get(cacheKey);
    if (running) return running;
    const check = this.#check(password, stored);
    this.#pending.set(cacheKey, check);
    try {
      const verified = await check;
      if (verified) this.#remember(cacheKey);
      return verified;
    } finally {
      this.#pending.delete(cacheKey);
    }
  }

  /**
   * Takes as long as a failing `verify`. Called for unknown users, so that timing does not reveal
   * whether a user exists.
   *
   * @throws PasswordQueueFull
   */
  async dummyVerify(password: string): Promise<false> {
    await this.#checks.run('', () => deriveScrypt(password, this.#decoySalt, this.#cost));
    return false;
  }

  async #check(password: string, stored: string): Promise<boolean> {
    const parsed = parseHash(stored);
    if (!parsed) return this.dummyVerify(password);
    const { salt, cost } = parsed;
    const key = await this.#checks.run('', () => deriveScrypt(password, salt, cost));
    return timingSafeEqual(key, parsed.key);
  }

  #cacheKey(password: string, stored: string): string {
    // The length distinguishes ('ab', 'c') from ('a', 'bc').
    return createHmac('sha256', this.#cacheSecret)
      .update(`${stored.length}:${stored}${password}`)
      .digest('base64');
  }

  #isRemembered(cacheKey: string): boolean {
    const until = this.#verifiedUntil.get(cacheKey);
    if (until === undefined) return false;
    this.#verifiedUntil.delete(cacheKey);
    if (until <= this.#now()) return false;
    // Re-inserting moves the entry to the end: the map's order is the order of last use.
    this.#verifiedUntil.set(cacheKey, until);
    return true;
  }

  #remember(cacheKey: string): void {
    if (this.#ttlMs <= 0 || this.#size <= 0) return;
    this.#verifiedUntil.set(cacheKey, this.#now() + this.#ttlMs);
    if (this.#verifiedUntil.size <= this.#size) return;
    const [oldest] = this.#verifiedUntil.keys();
    if (oldest !== undefined) this.#verifiedUntil.delete(oldest);
  }
}

function deriveScrypt(password: string, salt: Buffer, cost: ScryptCost): Promise<Buffer> {
  const { logN, r, p } = cost;
  const N = 2 ** logN;
  // Node's default limit is 32 MB; twice the required memory covers OpenSSL's own accounting.
  const options = { N, r, p, maxmem: 256 * r * (N + p) };
  // scrypt's inner HMAC pads short passwords with NULs, so 'x' and 'x\0' would be the same password.
  const fixedLength = createHmac('sha256', salt).update(password).digest();
  return new Promise((resolve, reject) => {
    scrypt(fixedLength, salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

function parseHash(stored: string): ParsedHash | null {
  const [, logN, r, p, salt, key] = SHAPE.exec(stored) ?? [];
  if (salt === undefined || key === undefined) return null;
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  const inRange =
    cost.logN >= 1 &&
    cost.logN <= CEILING.logN &&
    cost.r >= 8 &&
    cost.r <= CEILING.r &&
    cost.p >= 1 &&
    cost.p <= CEILING.p;
  if (!inRange) return null;
  return { cost, salt: Buffer.from(salt, 'base64url'), key: Buffer.from(key, 'base64url') };
}
