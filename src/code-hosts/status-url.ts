import { textAt, valueAt } from './payload.js';
import { MAX_URL_LENGTH, withoutTrailing } from '../common/fields/text.js';

/** Returns the root URL of a service's installation from a payload, without a trailing slash. */
export type ApiRoot = (payload: unknown) => string | null;

/**
 * Source of the status URL: either a URL in the payload, in which the ref replaces a placeholder, or a
 * path of the service's API below the installation's root, with `{id}` and `{ref}` replaced.
 */
export type StatusUrlRule =
  { template: string; placeholder?: string } | { path: string; id?: string; root: ApiRoot };

/** Returns the status URL of an event, or null if a part is missing. Returns only http and https URLs. */
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
  // A replacement function, because `$&` in a ref would be expanded in a replacement text.
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
 * Returns the root of service B's installation: the URL of the project's page without the project's path,
 * which keeps the path of an installation below the host's root.
 */
export const apiRootOfProject: ApiRoot = (payload) => {
  const url = toHttpUrl(textAt(payload, 'project.web_url'));
  if (!url) return null;
  const project = textAt(payload, 'project.path_with_namespace');
  const path = withoutTrailing(url.pathname, '/');
  const isUnderRoot = project !== null && path.endsWith(`/${project}`);
  return url.origin + (isUnderRoot ? path.slice(0, -project.length - 1) : '');
};

/**
 * Returns the root of service C's installation: the first valid link without `/users/...` or
 * `/projects/...`, which keeps the context path.
 */
export function apiRootOfPaths(...links: readonly string[]): ApiRoot {
  return (payload) => {
    const url = links
      .map((link) => toHttpUrl(textAt(payload, link)))
      .find((candidate) => candidate !== null);
    if (!url) return null;
    const end = url.pathname.search(/\/(users|projects)\//);
    return url.origin + (end < 0 ? '' : url.pathname.slice(0, end));
  };
}

/** Parses an http or https URL; returns null for other texts. `URL.origin` omits user names. */
export function toHttpUrl(text: string | null): URL | null {
  if (text === null || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
}
