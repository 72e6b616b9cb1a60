import { PasswordHasher, PasswordQueueFull } from './password-hash.js';

const COST = { logN: 4, r: 8, p: 1 };

describe('PasswordHasher', () => {
  const hasher = new PasswordHasher({ cost: COST });

  it('verifies the right password and refuses another', async () => {
    const stored = await hasher.hash('correct horse');
    expect(stored).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$[A-Za-z0-9_-]{22}\$[A-Za-z0-9_-]{43}$/);
    expect(await hasher.verify('correct horse', stored)).toBe(true);
    for (const wrong of [
      '',
      'correct hors',
      'correct horse ',
      'Correct horse',
      'correct horse\0',
    ]) {
      expect(await hasher.verify(wrong, stored)).toBe(false);
    }
  });

  it('salts: the same password never has the same hash', async () => {
    expect(await hasher.hash('x')).not.toBe(await hasher.hash('x'));
  });

  it.each([
    '',
    'plain',
    '$scrypt$ln=4,r=8,p=1$short$short',
    `$scrypt$ln=31,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`,
    `$scrypt$ln=4,r=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`,
    `$scrypt$ln=4,r=8,p=99$${'A'.repeat(22)}$${'A'.repeat(43)}`,
  ])('returns false and does not throw for the damaged hash %p', async (stored) => {
    expect(await hasher.verify('x', stored)).toBe(false);
  });

  it('verifies hashes of another cost', async () => {
    const stored = await new PasswordHasher({ cost: { logN: 5, r: 8, p: 2 } }).hash('x');
    expect(await hasher.verify('x', stored)).toBe(true);
  });

  it('takes as long for an unknown user as for a wrong password', async () => {
    const costly = new PasswordHasher({ cost: { logN: 13, r: 8, p: 2 } });
    const stored = await costly.hash('x');
    /** Returns the shortest of five durations in ms, because other processes can only lengthen a duration. */
    const timed = async (work: () => Promise<unknown>): Promise<number> => {
      const times: number[] = [];
      while (times.length < 5) {
        const start = performance.now();
        await work();
        times.push(performance.now() - start);
      }
      return Math.min(...times);
    };
    const wrong = await timed(() => costly.verify('wrong', stored));
    const unknown = await timed(() => costly.dummyVerify('wrong'));
    expect(await costly.dummyVerify('wrong')).toBe(false);
    // Both derive one key. The tolerance covers the noise, but no missing derivation.
    expect(unknown).toBeGreaterThan(wrong / 5);
    expect(wrong).toBeGreaterThan(unknown / 5);
  });

  it('caches a success for a while, so that repeated Basic authentication is cheap', async () => {
    let now = 0;
    const costly = new PasswordHasher({
      cost: { logN: 14, r: 8, p: 1 },
      now: () => now,
      cacheTtlMs: 1000,
    });
    const stored = await costly.hash('x');
    expect(await costly.verify('x', stored)).toBe(true);
    const start = performance.now();
    for (let round = 0; round < 200; round += 1)
      expect(await costly.verify('x', stored)).toBe(true);
    // Two hundred derivations would take seconds.
    expect(performance.now() - start).toBeLessThan(500);
    expect(await costly.verify('y', stored)).toBe(false);
    now = 1001;
    expect(await costly.verify('x', stored)).toBe(true);
  });

  it('evicts the oldest success first, and does not use the cache after the hash changes', async () => {
    const small = new PasswordHasher({ cost: COST, cacheSize: 2 });
    const hashes = await Promise.all(['a', 'b', 'c'].map((password) => small.hash(password)));
    for (const [index, stored] of hashes.entries()) {
      expect(await small.verify('abc'.charAt(index), stored)).toBe(true);
    }
    const changed = await small.hash('new');
    expect(await small.verify('c', changed)).toBe(false);
    expect(await small.verify('a', hashes[0] ?? '')).toBe(true);
  });

  it('limits the number of waiting checks', async () => {
    const stored = await hasher.hash('x');
    const fresh = new PasswordHasher({ cost: COST, cacheTtlMs: 0 });
    const checks = Array.from({ length: 50 }, (_, index) => fresh.verify(`wrong ${index}`, stored));
    const results = await Promise.allSettled(checks);
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(50 - 34);
    for (const refusal of refused)
      expect(refusal).toMatchObject({ reason: new PasswordQueueFull() });
    expect(await fresh.verify('x', stored)).toBe(true);
  });

  it('alternates between callers, and limits the waiting hashes of each', async () => {
    const fresh = new PasswordHasher({ cost: COST });
    const done: string[] = [];
    const hashes = [...Array<string>(110).fill('many'), 'one'].map((caller) =>
      fresh.hash('x', caller).then(() => done.push(caller)),
    );
    const results = await Promise.allSettled(hashes);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(110 - 101);
    expect(done.indexOf('one')).toBeLessThanOrEqual(2);
  });

  it('checks passwords while it hashes others', async () => {
    const stored = await hasher.hash('x');
    const fresh = new PasswordHasher({ cost: COST });
    const hashes = Promise.all(Array.from({ length: 50 }, () => fresh.hash('x')));
    const first = Promise.race([hashes.then(() => 'hashes'), fresh.verify('x', stored)]);
    expect(await first).toBe(true);
    await hashes;
  });

  it('completes many simultaneous checks', async () => {
    const stored = await hasher.hash('x');
    const fresh = new PasswordHasher({ cost: COST, cacheTtlMs: 0 });
    const passwords = Array.from({ length: 40 }, (_, index) =>
      index % 4 === 0 ? 'x' : `wrong ${index}`,
    );
    const results = await Promise.all(passwords.map((password) => fresh.verify(password, stored)));
    expect(results).toEqual(passwords.map((password) => password === 'x'));
  });
});
