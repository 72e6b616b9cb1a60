import { generateWebhookKey, randomAlphanumeric } from './random-key.js';
import { issueToken, tokenDigest } from './tokens.js';

describe('random keys', () => {
  it('creates webhook keys of fifty alphanumeric characters', () => {
    expect(generateWebhookKey()).toMatch(/^[A-Za-z0-9]{50}$/);
    expect(generateWebhookKey()).not.toBe(generateWebhookKey());
  });

  it('have exactly the requested length', () => {
    for (const length of [0, 1, 2, 63, 500])
      expect(randomAlphanumeric(length)).toHaveLength(length);
  });

  it('use every character about equally often', () => {
    const sample = randomAlphanumeric(62_000);
    const counts = new Map<string, number>();
    for (const character of sample) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // A modulo of a byte would make the first eight characters 25 % more frequent: eight standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(190);
  });
});

describe('tokens', () => {
  it('are recognizable, unique and stored as a digest', () => {
    const first = issueToken();
    const second = issueToken();
    expect(first.token).toMatch(/^act_[A-Za-z0-9]{43}$/);
    expect(first.token).not.toBe(second.token);
    expect(first.digest).toBe(tokenDigest(first.token));
    expect(first.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(first.digest).not.toContain(first.token.slice(4, 12));
  });

  it('start with the given prefix', () => {
    expect(issueToken('ses').token).toMatch(/^ses_/);
  });
});
