import { toHttpUrl } from './status-url.js';
import {
  webhookService,
  type PostedStatus,
  type StatusBodyPart,
  type WebhookServiceName,
} from './services.js';

/** The run whose status is posted. */
export interface StatusRun {
  id: number;
  /** What its kind is called: `Job`. */
  label: string;
  status: string;
  /** Page of the run, absolute. */
  targetUrl: string;
  /** Names the check at the service: see `statusContext`. */
  context: string;
}

/** A request to the status URL; JSON by POST for every service. */
export interface StatusPost {
  state: string;
  headers: Record<string, string>;
  body: Record<string, string>;
}

/** Thrown when a credential's token cannot be written into a header, such as one with a line break in it. */
export class UnusableToken extends Error {
  constructor() {
    super('The token of the webhook credential has characters that a header cannot carry.');
    this.name = 'UnusableToken';
  }
}

/** What is said of a run, after its kind and number. */
const DESCRIPTIONS: Record<PostedStatus, string> = {
  pending: 'is pending.',
  running: 'is running.',
  successful: 'was successful.',
  failed: 'failed.',
  error: 'ended with an error.',
  canceled: 'was canceled.',
};

/**
 * The word a service uses for a run's status, or null when nothing is posted: `waiting` is never
 * announced, and service A has no word for a running job.
 */
export function statusWord(service: WebhookServiceName, status: string): string | null {
  const { states } = webhookService(service).status;
  return isPostedStatus(status) ? (states[status] ?? null) : null;
}

/**
 * `<product>/<template name> (<template id>)`: services keep one status per context, so two templates
 * on one repository must not share it. Names may be equal in two organizations or beyond the limit.
 *
 * @param template null once it is deleted
 * @param limit characters the service takes
 */
export function statusContext(
  template: { id: number; name: string } | null,
  product: string,
  limit: number,
): string {
  if (!template) return product;
  const [head, tail] = [`${product}/`, ` (${template.id})`];
  const room = Math.max(1, limit - [...head].length - tail.length);
  return head + shorten(toLine(template.name), room) + tail;
}

/** The post that announces a run's status, or null when there is nothing to announce. @throws UnusableToken */
export function buildStatusPost(
  service: WebhookServiceName,
  run: StatusRun,
  token: string,
): StatusPost | null {
  const state = statusWord(service, run.status);
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

/** Which hosts a token may be sent to. */
export interface StatusHosts {
  /** The credential's `host` input; empty when it has none. */
  credentialHost: string;
  /** The setting's allow-list, for credentials without a host. */
  allowedHosts: readonly string[];
}

/**
 * Whether a token may be posted to a status URL. The URL comes from a payload, so without this rule
 * whoever knows the webhook key could have the token sent to a host of their own.
 *
 * A credential with a host pins to that host alone; otherwise the allow-list decides. An entry is
 * `https://host[:port]`, which pins the scheme as well, or a bare `host[:port]`.
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
  // A bare host means the default port of whatever scheme the target has.
  const allowed = toHttpUrl(pinsScheme ? entry : `${target.protocol}//${entry}`);
  return allowed !== null && allowed.origin === target.origin;
}

function isPostedStatus(status: string): status is PostedStatus {
  return Object.hasOwn(DESCRIPTIONS, status);
}

/** A token pasted with its line break is the usual accident; anything else is refused. */
function toHeaderValue(token: string): string {
  const value = token.trim();
  if (!/^[\x21-\x7e]+$/.test(value)) throw new UnusableToken();
  return value;
}

function toLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]+/gu, ' ');
}

/** Cuts by code points, so that no character is halved. */
function shorten(text: string, limit: number): string {
  const characters = [...text];
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}
