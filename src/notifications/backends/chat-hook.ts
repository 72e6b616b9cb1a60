import { secretsInUrl } from '../../outbound/mask.js';
import type { Configuration, SendContext, SendResult } from './backend.js';
import { flagOf, configuredTextOf } from './configuration-values.js';
import { deliverOnce } from './http-delivery.js';

/** Sends one JSON payload to the incoming webhook of a chat; omits empty optional keys. */
export function sendToHook(
  config: Configuration,
  context: SendContext,
  failure: string,
  payload: Readonly<Record<string, string>>,
): Promise<SendResult> {
  const url = configuredTextOf(config, 'url');
  const filled = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== ''));
  return deliverOnce(context, {
    failure,
    secrets: secretsInUrl(url),
    request: {
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(filled),
      verifyTls: !flagOf(config, 'no_verify_ssl'),
      redirects: 'same-host',
    },
  });
}
