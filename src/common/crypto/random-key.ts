import { randomBytes } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Bytes at or above the largest multiple of 62 are discarded: a plain modulo would favor some letters.
 */
const UNBIASED_LIMIT = 256 - (256 % ALPHABET.length);

/** Length of a generated webhook key (contract: 50 alphanumerics, about 297 bits). */
const WEBHOOK_KEY_LENGTH = 50;

/** Returns cryptographically random text over `[A-Za-z0-9]`. All characters are equally likely. */
export function randomAlphanumeric(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length + 8)) {
      if (byte < UNBIASED_LIMIT && text.length < length)
        text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}

export function generateWebhookKey(): string {
  return randomAlphanumeric(WEBHOOK_KEY_LENGTH);
}
