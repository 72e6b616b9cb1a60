import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';

/** Content types of pages and static files. Of the API, only the OpenAPI document is compressed. */
const PAGES_AND_FILES = /^(text\/(html|css|javascript)|application\/javascript|image\/svg)/;

/**
 * Returns true if the response is to be compressed. Responses to cross-site requests are never compressed:
 * the other site can choose text that a page repeats, and learn secrets of the page from the compressed
 * length (the BREACH attack, see docs/security.md).
 */
function shouldCompress(request: Request, response: Response): boolean {
  if (request.headers['sec-fetch-site'] === 'cross-site') return false;
  const isDocument = request.path === '/api/openapi.json';
  return isDocument || PAGES_AND_FILES.test(String(response.getHeader('Content-Type')));
}

/** Express handler that compresses pages, their static files and the OpenAPI document. */
export const compressed: RequestHandler = compression({ filter: shouldCompress });
