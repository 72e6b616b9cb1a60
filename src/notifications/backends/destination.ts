import { createHash } from 'node:crypto';
import { textMember } from '../../common/records.js';
import type { Configuration } from './backend.js';
import { intOf } from './configuration-values.js';
import type { NotificationType } from './notification-type.js';
import { backendFor } from './registry.js';

const DIGEST_LENGTH = 12;

/**
 * Returns the key of a template's destination, for the circuit breaker and the lane. Two webhook URLs
 * of one host are two destinations, because they can fail independently. Organizations do not share
 * a destination, so that no organization can block a destination for another. The key contains no
 * secrets: for a URL, it contains the origin and a digest of the URL.
 */
export function destinationOf(
  organizationId: number,
  type: NotificationType,
  configuration: Configuration,
): string {
  return `${organizationId} ${type} ${addressOf(type, configuration)}`;
}

function addressOf(type: NotificationType, configuration: Configuration): string {
  switch (type) {
    case 'email':
      return `${textMember(configuration, 'host')}:${intOf(configuration, 'port') ?? ''}`;
    case 'irc':
      return `${textMember(configuration, 'server')}:${intOf(configuration, 'port') ?? ''}`;
    default:
      return urlAddress(type, configuration);
  }
}

/** Returns the address in the URL field; channels without a URL field use one fixed service. */
function urlAddress(type: NotificationType, configuration: Configuration): string {
  const key = Object.entries(backendFor(type).fields).find(([, field]) => field.url)?.[0];
  const url = key ? textMember(configuration, key) : '';
  if (!URL.canParse(url)) return 'service';
  const digest = createHash('sha256').update(url).digest('hex').slice(0, DIGEST_LENGTH);
  return `${new URL(url).origin}#${digest}`;
}
