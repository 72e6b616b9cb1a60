import { createHash } from 'node:crypto';
import type { Configuration } from './backend.js';
import { intOf, textOf } from './configuration-values.js';
import type { NotificationType } from './notification-type.js';
import { backendFor } from './registry.js';

const DIGEST_LENGTH = 12;

/**
 * Names where notifications of a template go, for the circuit breaker and for fair shares. Two
 * hooks at one host are two destinations, because a path that fails says nothing about another;
 * organizations do not share one, so that nobody can shut a destination for somebody else. Holds
 * no secret: of a URL the origin is readable, the rest is a digest.
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
      return `${textOf(configuration, 'host')}:${intOf(configuration, 'port') ?? ''}`;
    case 'irc':
      return `${textOf(configuration, 'server')}:${intOf(configuration, 'port') ?? ''}`;
    default:
      return urlAddress(type, configuration);
  }
}

/** Kinds without a URL of their own call one fixed service. */
function urlAddress(type: NotificationType, configuration: Configuration): string {
  const key = Object.entries(backendFor(type).fields).find(([, field]) => field.url)?.[0];
  const url = key ? textOf(configuration, key) : '';
  if (!URL.canParse(url)) return 'service';
  const digest = createHash('sha256').update(url).digest('hex').slice(0, DIGEST_LENGTH);
  return `${new URL(url).origin}#${digest}`;
}
