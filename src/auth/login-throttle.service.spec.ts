import { PasswordQueueFull } from '../common/crypto/password-hash.js';
import { TooManyRequests, Unavailable } from '../common/errors/errors.js';
import type { RateLimiter } from '../common/rate/rate-limiter.service.js';
import type { Settings } from '../config/settings.js';
import { LoginThrottle } from './login-throttle.service.js';

const GUESS = { username: 'ada', password: 'secret', address: '10.0.0.1' };

const ADA = {
  id: 1,
  username: 'ada',
  is_superuser: false,
  is_system_auditor: false,
  has_second_factor: false,
  session_generation: 0,
};

/** Number of login attempts that were counted and not given back. */
let counted: number;
const subjects = new Set<string>();
const limiter = {
  take: async (_name: string, subject: string) => {
    counted += 1;
    subjects.add(subject);
    return () => void (counted -= 1);
  },
} as unknown as RateLimiter;

let throttle: LoginThrottle;
beforeEach(() => {
  counted = 0;
  subjects.clear();
  throttle = new LoginThrottle(limiter, {} as Settings);
});

describe('LoginThrottle', () => {
  it('counts failed attempts and does not count successful ones', async () => {
    expect(await throttle.attempt(GUESS, async () => ADA)).toBe(ADA);
    expect(counted).toBe(0);
    expect(await throttle.attempt(GUESS, async () => undefined)).toBeUndefined();
    expect(counted).toBe(2);
  });

  it('does not count attempts that were not checked because the queue is full', async () => {
    const full = (): Promise<never> => Promise.reject(new PasswordQueueFull());
    await expect(throttle.attempt(GUESS, full)).rejects.toThrow(Unavailable);
    expect(counted).toBe(0);
  });

  it('counts spellings that a directory does not distinguish for the same account', async () => {
    for (const username of ['ada', 'ADA', ' ada ', 'a\u00ADda', 'ádà', 'ａｄａ']) {
      await throttle.attempt({ ...GUESS, username }, async () => undefined);
    }
    expect(subjects.size).toBe(2);
    await throttle.attempt({ ...GUESS, username: 'ida' }, async () => undefined);
    expect(subjects.size).toBe(4);
  });

  it('checks at most eight passwords of one address at the same time', async () => {
    const guess = (index: number): typeof GUESS => ({ ...GUESS, password: `guess ${index}` });
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => throttle.attempt(guess(index), async () => ADA)),
    );
    const refusals = results.flatMap((result): unknown[] =>
      result.status === 'rejected' ? [result.reason] : [],
    );
    expect(refusals).toEqual([expect.any(TooManyRequests), expect.any(TooManyRequests)]);
    await expect(throttle.attempt(GUESS, async () => ADA)).resolves.toBe(ADA);
  });

  it('checks simultaneous attempts with the same password once', async () => {
    const verify = jest.fn(async () => ADA);
    await Promise.all(Array.from({ length: 20 }, () => throttle.attempt(GUESS, verify)));
    expect(verify).toHaveBeenCalledTimes(1);
  });
});
