import type { INestApplication } from '@nestjs/common';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { assetUrl } from './assets.js';
import { html } from './html.js';

/**
 * Content security policy of the explorer. Swagger UI sets inline styles and draws its icons from
 * data URLs. All of its scripts are static files of this server.
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

/** Root element of the explorer. */
const ROOT_ELEMENT = '<div id="swagger-ui"></div>';

/** Style sheets and scripts of the package `swagger-ui-dist`, whose server sends ETags. */
const FILE = /^\/swagger-ui[\w-]*\.(css|js)$/;

/** Returns links to the pages, which the explorer lacks, followed by the root element. */
const withBackLinks = (): string =>
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
    </noscript>`.text + ROOT_ELEMENT;

/**
 * Express handler for the pages and files of the API explorer. Sets their content security policy
 * and adds links to the pages (docs/decisions/0131-pages.md).
 */
export function explorerPages(request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Content-Security-Policy', EXPLORER_POLICY);
  // Browsers revalidate the files and get 304 until the files change.
  if (FILE.test(request.path)) response.setHeader('Cache-Control', 'no-cache');
  const send = response.send.bind(response);
  response.send = (body?: unknown) =>
    send(typeof body === 'string' ? body.replace(ROOT_ELEMENT, withBackLinks) : body);
  next();
}

/** Serves the explorer and the OpenAPI document, which Swagger builds at the first request. */
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

/** Document of the browser; undefined on the server. */
declare const document: { readonly cookie: string };

/**
 * Adds the CSRF token of the cookie, so that the explorer can use the session of the logged-in
 * user. The browser receives the function as text, so it must not use code outside the function.
 */
function withCsrfToken(request: ExplorerRequest): ExplorerRequest {
  const token = /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie);
  if (token?.[1]) request.headers['X-CSRFToken'] = token[1];
  return request;
}
