import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';

/** What browsers are sent: pages, and files of ours. Answers of the API stay as they are. */
const PAGES_AND_FILES = /^(text\/(html|css|javascript)|application\/javascript|image\/svg)/;

/**
 * Tells whether an answer is sent compressed. One to a request that another site made is not: that
 * site may choose text that a page repeats, and learn from its length what else the page holds (the
 * BREACH attack, see docs/security.md).
 */
function isCompressed(request: Request, response: Response): boolean {
  if (request.headers['sec-fetch-site'] === 'cross-site') return false;
  const isDocument = request.path === '/api/openapi.json';
  return isDocument || PAGES_AND_FILES.test(String(response.getHeader('Content-Type')));
}

/** Express handler that sends pages, their files and the OpenAPI document compressed. */
export const compressed: RequestHandler = compression({ filter: isCompressed });
