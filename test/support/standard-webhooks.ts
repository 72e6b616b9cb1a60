import { webcrypto } from 'node:crypto';

/**
 * Verifies a delivery as a receiver does according to the Standard Webhooks specification, with the Web
 * Cryptography API: shares no code with the signer.
 *
 * @param secret `whsec_` and the key in base64
 * @param toleranceSeconds maximum difference between the time of the delivery and now
 */
export async function isAuthentic(
  secret: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string,
  toleranceSeconds = 300,
): Promise<boolean> {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) return false;
  const key = await webcrypto.subtle.importKey(
    'raw',
    Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  const signed = Buffer.from(`${id}.${timestamp}.${body}`);
  for (const entry of String(headers['webhook-signature']).split(' ')) {
    const [version, signature = ''] = entry.split(',', 2);
    if (version !== 'v1') continue;
    if (await webcrypto.subtle.verify('HMAC', key, Buffer.from(signature, 'base64'), signed)) {
      return true;
    }
  }
  return false;
}
