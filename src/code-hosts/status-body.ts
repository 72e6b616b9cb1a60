import { toHttpUrl } from './status-url.js';
import {
  webhookService,
  type PostedStatus,
  type StatusBodyPart,
  type WebhookServiceName,
} from './services.js';

/** Run whose status is posted. */
export interface StatusRun {
  id: number;
  /** Display name of the run's type: `Job`. */
  label: string;
  status: string;
  /** Absolute URL of the run's page. */
  targetUrl: string;
  /** Name of the check at the service; see `statusContext`. */
  context: string;
}

/** Request to the status URL: JSON by POST for every service. */
export interface StatusPost {
  state: string;
  headers: Record<string, string>;
  body: Record<string, string>;
}

/** Error for a credential's token that is not valid in a header, for example with a line break. */
export class UnusableToken extends Error {
  constructor() {
    super('The token of the webhook credential has characters that are not valid in a header.');
    this.name = 'UnusableToken';
  }
}

/** Texts that follow the run's type and number. */
const DESCRIPTIONS: Record<PostedStatus, string> = {
  pending: 'is pending.',
  running: 'is running.',
  successful: 'was successful.',
  failed: 'failed.',
  error: 'ended with an error.',
  canceled: 'was canceled.',
};

/**
 * Returns the service's state for a run's status, or null if nothing is posted. `waiting` is never
 * posted, and service A has no state for a running job.
 */
export function serviceState(service: WebhookServiceName, status: string): string | null {
  const { states } = webhookService(service).status;
  return isPostedStatus(status) ? (states[status] ?? null) : null;
}

/**
 * Returns `<product>/<template name> (<template id>)`. Services keep one status per context, so two
 * templates on one repository must have different contexts. Names alone can be equal in two
 * organizations, or after truncation.
 *
 * @param template null if the template was deleted
 * @param limit maximum number of characters at the service
 */
export function statusContext(
  template: { id: number; name: string } | null,
  product: string,
  limit: number,
): string {
  if (!template) return product;
  const [head, tail] = [`${product}/`, ` (${template.id})`];
  const nameLimit = Math.max(1, limit - [...head].length - tail.length);
  return head + shorten(toLine(template.name), nameLimit) + tail;
}

/**
 * Returns the request that posts a run's status, or null if there is nothing to post.
 *
 * @throws UnusableToken
 */
export function buildStatusPost(
  service: WebhookServiceName,
  run: StatusRun,
  token: string,
): StatusPost | null {
  const state = serviceState(service, run.status);
  if (state === null || !isPostedStatus(run.status)) return null;
  const { authorization, body, contextLimit, descriptionLimit } = webhookService(service).status;
  const parts: Record<StatusBodyPart, string> = {
    state,
    targetUrl: run.targetUrl,
    description: shorten(`${run.label} ${run.id} ${DESCRIPTIONS[run.status]}`, descriptionLimit),
    context: shorten(toLine(run.context), contextLimit),
  };
  return {
    state,
    headers: {
      'Content-Type': 'application/json',
      [authorization.header]: authorization.scheme + toHeaderValue(token),
    },
    body: Object.fromEntries(Object.entries(body).map(([key, part]) => [key, parts[part]])),
  };
}

/** Hosts that a token can be sent to. */
export interface StatusHosts {
  /** `host` input of the credential; empty if it has none. */
  credentialHost: string;
  /** Allowlist of the setting, for credentials without a host. */
  allowedHosts: readonly string[];
}

/**
 * Returns true if a token can be posted to a status URL. The URL comes from a payload, so without this
 * check a sender who knows the webhook key could direct the token to another host.
 *
 * If the credential has a host, only that host is permitted; otherwise the allowlist decides. An entry is
 * `https://host[:port]`, which also requires the scheme, or a bare `host[:port]`.
 */
export function mayPostTo(url: string, { credentialHost, allowedHosts }: StatusHosts): boolean {
  const target = toHttpUrl(url);
  if (!target || target.username !== '' || target.password !== '') return false;
  const host = credentialHost.trim();
  return (host === '' ? allowedHosts : [host]).some((entry) => isSameHost(target, entry.trim()));
}

function isSameHost(target: URL, entry: string): boolean {
  if (entry === '') return false;
  const pinsScheme = /^https?:\/\//i.test(entry);
  // A bare host means the default port of the target's scheme.
  const allowed = toHttpUrl(pinsScheme ? entry : `${target.protocol}//${entry}`);
  return allowed !== null && allowed.origin === target.origin;
}

function isPostedStatus(status: string): status is PostedStatus {
  return Object.hasOwn(DESCRIPTIONS, status);
}

/**
 * Returns the token for a header. Trims the line break of a pasted token and rejects all other invalid
 * characters.
 */
function toHeaderValue(token: string): string {
  const value = token.trim();
  if (!/^[\x21-\x7e]+$/.test(value)) throw new UnusableToken();
  return value;
}

function toLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]+/gu, ' ');
}

/** Truncates by code points, so that no character is split. */
function shorten(text: string, limit: number): string {
  const characters = [...text];
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}
