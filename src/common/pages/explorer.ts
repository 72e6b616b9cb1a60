import type { NextFunction, Request, Response } from 'express';

/**
 * Swagger UI sets styles on its elements and draws its icons from data URLs, so styles are open
 * there; its scripts are all files of ours.
 */
const EXPLORER_POLICY = [
  "default-src 'none'",
  "style-src 'self' 'unsafe-inline'",
  "script-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** Express handler for the pages and files of the API explorer. */
export function explorerPolicy(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Content-Security-Policy', EXPLORER_POLICY);
  next();
}

/** What the explorer's own code calls before each request; it runs in the browser. */
interface ExplorerRequest {
  url: string;
  headers: Record<string, string>;
}

/** That of the browser: there is none in this process. */
declare const document: { readonly cookie: string };

/**
 * Lets the explorer call as the person who is logged in: a session needs the CSRF token of its
 * cookie. The function is sent to the browser as text and must stand on its own.
 */
export function withCsrfToken(request: ExplorerRequest): ExplorerRequest {
  const token = /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie);
  if (token?.[1]) request.headers['X-CSRFToken'] = token[1];
  return request;
}
