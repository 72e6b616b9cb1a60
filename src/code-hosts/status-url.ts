import { textAt, valueAt } from './payload.js';

/** Longest URL that is kept; longer ones are no status URLs of a real service. */
const MAX_URL_LENGTH = 2048;

/** Finds the root of a service's installation in a payload, without a slash at the end. */
export type ApiRoot = (payload: unknown) => string | null;

/**
 * Where statuses go: either a URL written in the payload, with the ref put in for a placeholder, or
 * a path of the service's API under the root of the installation, with `{id}` and `{ref}` filled in.
 */
export type StatusUrlRule =
  { template: string; placeholder?: string } | { path: string; id?: string; root: ApiRoot };

/** The status URL of an event, or null when a part of it is missing. Only http and https URLs are given. */
export function statusUrl(
  rule: StatusUrlRule,
  payload: unknown,
  ref: string | null,
): string | null {
  const url = 'template' in rule ? fromTemplate(rule, payload, ref) : fromPath(rule, payload, ref);
  return url !== null && toHttpUrl(url) ? url : null;
}

function fromTemplate(
  { template, placeholder }: { template: string; placeholder?: string },
  payload: unknown,
  ref: string | null,
): string | null {
  const url = textAt(payload, template);
  if (url === null || placeholder === undefined) return url;
  // A function as the replacement: `$&` in a ref would otherwise be expanded.
  return ref === null ? null : url.replace(placeholder, () => encodeURIComponent(ref));
}

function fromPath(
  { path, id, root }: { path: string; id?: string; root: ApiRoot },
  payload: unknown,
  ref: string | null,
): string | null {
  const base = root(payload);
  const number = id === undefined ? 0 : valueAt(payload, id);
  if (base === null || ref === null || !Number.isSafeInteger(number)) return null;
  const filled = path
    .replace('{id}', String(number))
    .replace('{ref}', () => encodeURIComponent(ref));
  return base + filled;
}

/**
 * Root of service B's installation: the project's page without the project's path, so that an
 * installation under a path of its host keeps that path.
 */
export const apiRootOfProject: ApiRoot = (payload) => {
  const url = toHttpUrl(textAt(payload, 'project.web_url'));
  if (!url) return null;
  const project = textAt(payload, 'project.path_with_namespace');
  const path = url.pathname.replace(/\/+$/, '');
  const isUnderRoot = project !== null && path.endsWith(`/${project}`);
  return url.origin + (isUnderRoot ? path.slice(0, -project.length - 1) : '');
};

/**
 * Root of service C's installation: the first of the links without `/users/...` or `/projects/...`,
 * so that the context path stays.
 */
export function apiRootOfPaths(...links: readonly string[]): ApiRoot {
  return (payload) => {
    const url = links
      .map((link) => toHttpUrl(textAt(payload, link)))
      .find((found) => found !== null);
    if (!url) return null;
    const end = url.pathname.search(/\/(users|projects)\//);
    return url.origin + (end < 0 ? '' : url.pathname.slice(0, end));
  };
}

/** A parsed http or https URL, or null. `URL.origin` leaves out user names in it. */
export function toHttpUrl(text: string | null): URL | null {
  if (text === null || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
}
