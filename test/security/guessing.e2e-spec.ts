/** The number of password guesses is limited, and the guesses of one sender never lock out another user. */
import { PasswordHasher } from '../../src/common/crypto/password-hash.js';
import { RedisConnection } from '../../src/common/queue/redis-connection.service.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { ApiClient } from '../support/client.js';

const PASSWORD = 'a long enough password';
const RATE = 3;
const ACCOUNT_RATE = 5;

let test: TestApp;
beforeAll(async () => {
  test = await boot({
    settings: {
      LOGIN_RATE: String(RATE),
      LOGIN_ACCOUNT_RATE: String(ACCOUNT_RATE),
      TRUSTED_PROXIES: '127.0.0.0/8',
    },
  });
  await test.app.get(RedisConnection, { strict: false }).client.ping();
  // The rate limit counts per minute: the clock stands still so that no new minute begins.
  jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2031, 0, 1, 0, 0, 30));
});
afterAll(async () => {
  jest.restoreAllMocks();
  await test.close();
});

let users = 0;
async function user(): Promise<string> {
  const username = `guessed-${(users += 1)}`;
  await test.make.user({ username, password: PASSWORD });
  return username;
}

const client = (username: string, password: string, address: string): ApiClient =>
  new ApiClient(test.url, {
    Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    'X-Forwarded-For': address,
  });

async function logIn(username: string, password: string, address: string): Promise<number> {
  const { status, headers } = await client(username, password, address).get('me/');
  if (status === 429 || status === 503) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  return status;
}

const among = (statuses: readonly number[], status: number): number =>
  statuses.filter((one) => one === status).length;

describe('password guesses', () => {
  it('in parallel are limited like sequential ones', async () => {
    const username = await user();
    const statuses = await Promise.all(
      Array.from({ length: 40 }, (_, index) => logIn(username, `wrong ${index}`, '10.0.0.1')),
    );
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(among(statuses, 401)).toBeLessThanOrEqual(RATE);
    expect(await logIn(username, PASSWORD, '10.0.0.1')).toBe(429);
  });

  it('from one address do not affect other addresses or other accounts', async () => {
    const [username, other] = [await user(), await user()];
    for (let guess = 0; guess <= RATE; guess++) await logIn(username, `wrong ${guess}`, '10.0.1.1');
    expect(await logIn(username, PASSWORD, '10.0.1.1')).toBe(429);
    expect(await logIn(username, PASSWORD, '10.0.1.2')).toBe(200);
    expect(await logIn(other, PASSWORD, '10.0.1.1')).toBe(200);
  });

  it('for one account are counted from all addresses, also for unknown users', async () => {
    for (const username of [await user(), 'nobody of that name']) {
      const statuses: number[] = [];
      for (let guess = 0; guess < ACCOUNT_RATE + 4; guess++) {
        statuses.push(await logIn(username, `wrong ${guess}`, `10.0.2.${guess}`));
      }
      expect([among(statuses, 401), among(statuses, 429)]).toEqual([ACCOUNT_RATE, 4]);
    }
  });

  it('do not block a user whose password was recently correct', async () => {
    const username = await user();
    expect(await logIn(username, PASSWORD, '10.0.3.1')).toBe(200);
    for (let guess = 0; guess < ACCOUNT_RATE + 4; guess++) {
      await logIn(username, `wrong ${guess}`, `10.0.3.${guess % 4}`);
    }
    expect(await logIn(username, 'wrong', '10.0.3.1')).toBe(429);
    expect(await logIn(username, PASSWORD, '10.0.3.1')).toBe(200);
  });

  it('with the right password are not counted', async () => {
    const username = await user();
    const statuses = await Promise.all(
      Array.from({ length: 60 }, () => logIn(username, PASSWORD, '10.0.4.1')),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    for (let guess = 0; guess < RATE; guess++) {
      expect(await logIn(username, `wrong ${guess}`, '10.0.4.1')).toBe(401);
    }
  });

  it('of many clients wait in a queue of limited length', async () => {
    for (let index = 0; index < 60; index++) await test.make.user({ username: `crowd-${index}` });
    // Checks as slow as those of the product, so that the queue fills.
    const slow = await new PasswordHasher().hash(PASSWORD);
    const crowd = sql`username LIKE 'crowd-%'`;
    await test.database.execute(sql`UPDATE users SET password_hash = ${slow} WHERE ${crowd}`);
    const statuses = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        logIn(`crowd-${index}`, `wrong ${index}`, `10.1.0.${index}`),
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([401, 503]));
    expect(among(statuses, 503)).toBeGreaterThan(0);
    await test.as.orgMember.get('me/').expect(200);
  }, 180_000);
});
