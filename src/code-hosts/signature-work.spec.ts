/**
 * Replaces a module of Node.
 *
 * @jest-environment node
 */
/** Every refused signature costs as much work as a wrong one, so that the response time reveals nothing. */
import { jest } from '@jest/globals';
import type { WebhookServiceName } from './services.js';

const crypto = await import('node:crypto');
const createHmac = jest.fn(crypto.createHmac);
jest.unstable_mockModule('node:crypto', () => ({ ...crypto, createHmac }));
const { isVerified } = await import('./signature.js');

const BODY = Buffer.alloc(1_000_000, 'x');
const SIGNATURES: [WebhookServiceName, string][] = [
  ['service_a', 'X-Service-A-Signature'],
  ['service_a', 'X-Service-A-Signature-256'],
  ['service_c_dc', 'X-Service-C-Signature'],
];
const WRONG: [string, string[]][] = [
  ['is wrong', [`sha1=${'0'.repeat(40)}`]],
  ['is missing', []],
  ['is empty', ['']],
  ['names no algorithm', ['0'.repeat(40)]],
  ['names another algorithm', [`md5=${'0'.repeat(32)}`]],
  ['is truncated', [`sha256=${'0'.repeat(63)}`]],
  ['has other letters', [`sha1=${'g'.repeat(40)}`]],
  ['is enormous', [`sha256=${'0'.repeat(1_000_000)}`]],
  ['comes twice', [`sha1=${'0'.repeat(40)}`, `sha1=${'0'.repeat(40)}`]],
];

beforeEach(() => createHmac.mockClear());

describe.each(SIGNATURES)('a body to %s is hashed once for each header %s', (service, header) => {
  it.each(WRONG)('%s', (_what, values) => {
    const rawHeaders = values.flatMap((value) => [header, value]);
    expect(isVerified(service, { headers: {}, rawHeaders, rawBody: BODY }, 'key')).toBe(false);
    expect(createHmac).toHaveBeenCalledTimes(1);
  });
});
