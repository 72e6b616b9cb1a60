import type { INestApplication } from '@nestjs/common';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { assetUrl } from './assets.js';
import { html } from './html.js';

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

/** The element that the explorer is drawn in. */
const PLACE = '<div id="swagger-ui"></div>';

/** Style sheets and scripts of the package `swagger-ui-dist`, whose server sends their digests. */
const FILE = /^\/swagger-ui[\w-]*\.(css|js)$/;

/** Links to the pages, which the explorer has none of. */
const wayBack = (): string =>
  html`<link rel="stylesheet" href="${assetUrl('explorer.css')}" />
    <nav class="way-back" aria-label="Automation Controller">
      <a href="/">Automation Controller</a>
      <a href="/api/v2/">API</a>
    </nav>
    <noscript>
      <p class="way-back">
        The explorer needs JavaScript. The
        <a href="/api/openapi.json">OpenAPI document</a> describes the same operations.
      </p>
    </noscript>`.text + PLACE;

/**
 * Express handler for the pages and files of the API explorer: sets their policy, and puts a way
 * back before it (docs/decisions/0131-pages.md).
 */
export function explorerPages(request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Content-Security-Policy', EXPLORER_POLICY);
  // Its files are asked for again and answered 304 until they change; the page itself is not kept.
  if (FILE.test(request.path)) response.setHeader('Cache-Control', 'no-cache');
  const send = response.send.bind(response);
  response.send = (body?: unknown) =>
    send(typeof body === 'string' ? body.replace(PLACE, wayBack) : body);
  next();
}

/** Serves the explorer and the document, which Swagger builds at the first request for either. */
export function serveExplorer(app: INestApplication, build: () => OpenAPIObject): void {
  SwaggerModule.setup('api/docs', app, build, {
    jsonDocumentUrl: 'api/openapi.json',
    customSiteTitle: 'Automation Controller API',
    customfavIcon: '/static/favicon.svg',
    swaggerOptions: {
      persistAuthorization: true,
      docExpansion: 'none',
      filter: true,
      requestInterceptor: withCsrfToken,
    },
  });
}

/** The request that the explorer's code passes to `withCsrfToken` in the browser. */
interface ExplorerRequest {
  url: string;
  headers: Record<string, string>;
}

/** The browser's document; the server has none. */
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
