import { randomUUID } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { serveAssets } from './browser/shared/assets.js';
import { SessionsService } from './auth/sessions.service.js';
import { browserForms } from './browser/shared/browser-form.js';
import { explorerPages } from './browser/shared/explorer.js';
import { formBodies } from './browser/shared/form-bodies.js';
import { pageControls } from './browser/shared/page-controls.js';
import { MinimumBodyRate } from './common/http/minimum-body-rate.js';
import { compressed } from './common/http/compression.js';
import { limitConnections } from './common/http/connections.js';
import { sendsLines, wantsLines } from './common/http/lines.js';
import { acceptsHtml, assertAcceptable } from './common/http/negotiation.js';
import { handleParserErrors } from './common/http/parser-errors.js';
import { RequestBodies } from './common/http/request-bodies.service.js';
import { GroupMember } from './common/processes/group-member.js';
import { runInScope } from './common/http/request-scope.js';
import { sendJson } from './common/http/long-response.js';
import { SecurityEvents } from './common/rest/security-events.service.js';
import { Settings } from './config/settings.js';
import { LogLines } from './logging/log-lines.service.js';
import { logRefusals } from './logging/refused-requests.js';
import { LiveAdapter } from './live-updates/live-adapter.js';
import { acceptProductNames } from './service-names/service-names.interceptor.js';
import { receiverGate } from './webhooks/receiver-gate.js';
import { SignatureVerifier } from './webhooks/signature-verifier.service.js';

/** Routes of run output, which has additional formats that the routes negotiate themselves. */
const OUTPUT_PATH = /^\/v2\/[a-z_]+\/[^/]+\/(stdout|events\/stream)\/?$/;
/** Route that accepts an NDJSON body and can then respond with NDJSON. */
const LINES_PATH = /^\/api\/v2\/bulk\/host_create\/?$/;

/**
 * Members of Express that its types omit: the prototypes of requests and responses, and the check for
 * trusted proxies.
 */
interface Express {
  request: Request;
  response: { json: (value: unknown) => Response };
  get(setting: 'trust proxy fn'): (address: string, hop: number) => boolean;
}

/**
 * Installs everything between the socket and the first guard. Shared by the API process and the tests.
 */
export function configureApp(app: NestExpressApplication): void {
  const settings = app.get(Settings);
  handleParserErrors(app.getHttpServer());
  const express = app.getHttpAdapter().getInstance() as Express;
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set(
    'trust proxy',
    settings.TRUSTED_PROXIES.length > 0 ? [...settings.TRUSTED_PROXIES] : false,
  );
  const isProxy = express.get('trust proxy fn');
  limitConnections(app.getHttpServer(), app.get(GroupMember), {
    perAddress: settings.CONNECTIONS_PER_ADDRESS,
    isProxy: (address) => isProxy(address, 0),
  });
  express.response.json = sendJson;
  app.useWebSocketAdapter(new LiveAdapter(app.getHttpServer(), express.request));
  app.use(new MinimumBodyRate().handle);
  app.use(openScope);
  app.use(logRefusals(app.get(LogLines, { strict: false })));
  app.use(parseQueryOnce);
  if (settings.SERVICE_NAMES === 'vendor') app.use(acceptProductNames);
  app.use(securityHeaders(settings));
  const verifier = app.get(SignatureVerifier, { strict: false });
  app.use(receiverGate(verifier, app.get(SecurityEvents)));
  const sessions = app.get(SessionsService, { strict: false });
  app.use(formBodies(app.get(RequestBodies), (session) => sessions.isOpen(session)));
  app.use('/api', (request: Request, _response: Response, next: NextFunction) => {
    const respondsInLines = acceptsLines(request) && wantsLines(request);
    if (!OUTPUT_PATH.test(request.path) && !respondsInLines) assertAcceptable(request);
    next();
  });
  usePages(app);
  app.enableShutdownHooks();
}

const acceptsLines = (request: Request): boolean =>
  request.method === 'POST' &&
  LINES_PATH.test(request.originalUrl.split('?')[0] ?? '') &&
  sendsLines(request);

/** Installs the middleware for browsers: static assets, page controls and HTML forms. */
function usePages(app: NestExpressApplication): void {
  app.use(compressed);
  app.use('/static', serveAssets);
  app.use('/api/docs', explorerPages);
  app.use(pageControls);
  app.use(browserForms);
  app.use((request: Request, response: Response, next: NextFunction) => {
    // The dashboard is for users; a program that requests the root is looking for the API.
    const isProgram = !acceptsHtml(request);
    if (request.path === '/' && ['GET', 'HEAD'].includes(request.method) && isProgram) {
      response.redirect(302, '/api/v2/');
    } else next();
  });
}

const REQUEST_ID = /^[\w.-]{1,64}$/;

/** Opens the scope of each request, sets its id, and reports the response time. */
function openScope(request: Request, response: Response, next: NextFunction): void {
  const sentId = request.get('X-Request-Id') ?? '';
  const requestId = REQUEST_ID.test(sentId) ? sentId : randomUUID();
  const started = process.hrtime.bigint();
  response.setHeader('X-API-Request-Id', requestId);
  const writeHead = response.writeHead.bind(response) as (...args: never[]) => Response;
  response.writeHead = (...args: never[]) => {
    if (!response.headersSent) {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      response.setHeader('X-API-Time', `${seconds.toFixed(3)}s`);
    }
    return writeHead(...args);
  };
  runInScope({ actor: null, requestId, sourceIp: request.ip ?? '' }, next);
}

/**
 * Replaces the `query` getter by its value: the framework would parse the query string on every access.
 */
function parseQueryOnce(request: Request, _response: Response, next: NextFunction): void {
  Object.defineProperty(request, 'query', { value: request.query, writable: true });
  next();
}

function securityHeaders({ HSTS_MAX_AGE }: Settings): RequestHandler {
  return (request, response, next) => {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('X-Frame-Options', 'DENY');
    response.setHeader('Referrer-Policy', 'same-origin');
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Vary', 'Accept, Authorization, Cookie');
    if (request.secure && HSTS_MAX_AGE > 0) {
      response.setHeader('Strict-Transport-Security', `max-age=${HSTS_MAX_AGE}`);
    }
    next();
  };
}
