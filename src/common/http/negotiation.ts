import { NotAcceptable, NotFound } from '../errors/errors.js';
import type { ApiRequest } from './request.js';

/** Content types of requests. */
export const PARSES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
] as const;
/** Content types of responses. */
export const RENDERS = ['application/json', 'text/html'] as const;

/** Parts of a request that determine the format of its response. */
interface Negotiable extends Pick<ApiRequest, 'headers'> {
  query: { format?: unknown };
}

/** Returns true if the response is an HTML page: the client asks for `text/html` or `?format=api`. */
export function acceptsHtml(request: Negotiable): boolean {
  const format = [request.query.format].flat()[0];
  if (format === 'api') return true;
  if (format === 'json') return false;
  const accept = request.headers.accept ?? '*/*';
  const html = weightOf(accept, 'text', 'html');
  // Browsers name HTML explicitly; `*/*` alone means JSON.
  return (
    html > 0 && accept.includes('text/html') && html >= weightOf(accept, 'application', 'json')
  );
}

/** @throws NotAcceptable if no offered type matches `Accept`, NotFound for an unknown format */
export function assertAcceptable(request: Negotiable): void {
  const format = [request.query.format].flat()[0];
  if (format !== undefined && format !== 'json' && format !== 'api') {
    throw new NotFound('The requested format is not known.');
  }
  const accept = request.headers.accept;
  if (format !== undefined || !accept) return;
  if (weightOf(accept, 'application', 'json') <= 0 && weightOf(accept, 'text', 'html') <= 0) {
    throw new NotAcceptable();
  }
}

/** Returns the weight of a media type in `Accept` (RFC 9110, 12.5.1). The most specific range decides. */
export function weightOf(accept: string, type: string, subtype: string): number {
  let best = { specificity: -1, weight: 0 };
  for (const range of accept.split(',')) {
    const [media = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const specificity = [`*/*`, `${type}/*`, `${type}/${subtype}`].indexOf(media);
    if (specificity <= best.specificity) continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    best = { specificity, weight: weight === undefined ? 1 : Number(weight) || 0 };
  }
  return best.weight;
}
