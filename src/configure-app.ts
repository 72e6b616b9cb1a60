import { randomUUID } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { serveAssets } from './common/browsable/assets.js';
import { browserForms } from './common/browsable/browser-form.js';
import { explorerPolicy } from './common/browsable/explorer.js';
import { pageControls } from './common/browsable/page-controls.js';
import { bodyParsers, rawBody } from './common/http/body.js';
import { acceptsHtml, assertAcceptable } from './common/http/negotiation.js';
import { answerParserErrors } from './common/http/parser-errors.js';
import type { ApiRequest } from './common/http/request.js';
import { runInScope } from './common/http/request-scope.js';
import { Settings } from './config/settings.js';

/** Paths whose bytes are verified before anything reads them (decision 14). */
const RECEIVERS = [
  '/api/v2/job_templates/:id/:service',
  '/api/v2/workflow_job_templates/:id/:service',
  '/api/v2/projects/:id/:service',
];
const SERVICE = /^\/api\/v2\/[a-z_]+\/[^/]+\/service_[a-z_]+\/?$/;
/** Output of runs comes in formats of its own; its routes check them. */
const OUTPUT = /^\/v2\/[a-z_]+\/[^/]+\/(stdout|events\/stream)\/?$/;

/** Everything between the socket and the first guard; shared by the API process and the tests. */
export function configureApp(app: NestExpressApplication): void {
  const settings = app.get(Settings);
  answerParserErrors(app.getHttpServer());
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set(
    'trust proxy',
    settings.TRUSTED_PROXIES.length > 0 ? [...settings.TRUSTED_PROXIES] : false,
  );
  app.use(openScope);
  app.use(securityHeaders);
  const raw = rawBody(settings.WEBHOOK_BODY_LIMIT);
  app.use(RECEIVERS, (request: Request, response: Response, next: NextFunction) => {
    if (SERVICE.test(request.originalUrl.split('?')[0] ?? '')) raw(request, response, next);
    else next();
  });
  for (const parser of bodyParsers(settings.BULK_BODY_LIMIT)) {
    app.use('/api/v2/bulk', parser);
  }
  for (const parser of bodyParsers(settings.BODY_LIMIT)) app.use(parser);
  app.use('/api', (request: Request, _response: Response, next: NextFunction) => {
    if (!OUTPUT.test(request.path)) assertAcceptable(request as never);
    next();
  });
  usePages(app);
  app.enableShutdownHooks();
}

/** What browsers need besides the routes: local assets, the controls and the forms of pages. */
function usePages(app: NestExpressApplication): void {
  app.use('/static', serveAssets);
  app.use('/api/docs', explorerPolicy);
  app.use(pageControls);
  app.use(browserForms);
  app.use((request: Request, response: Response, next: NextFunction) => {
    // The dashboard is for people; a program that starts at the root is looking for the API.
    const isProgram = !acceptsHtml(request as unknown as ApiRequest);
    if (request.path === '/' && ['GET', 'HEAD'].includes(request.method) && isProgram) {
      response.redirect(302, '/api/v2/');
    } else next();
  });
}

const REQUEST_ID = /^[\w.-]{1,64}$/;

/** Gives each request its scope, its id, and the time it took. */
function openScope(request: Request, response: Response, next: NextFunction): void {
  const sent = request.get('X-Request-Id') ?? '';
  const requestId = REQUEST_ID.test(sent) ? sent : randomUUID();
  const started = process.hrtime.bigint();
  response.setHeader('X-API-Request-Id', requestId);
  const writeHead = response.writeHead.bind(response) as (...args: never[]) => Response;
  response.writeHead = ((...args: never[]) => {
    if (!response.headersSent) {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      response.setHeader('X-API-Time', `${seconds.toFixed(3)}s`);
    }
    return writeHead(...args);
  }) as typeof response.writeHead;
  runInScope({ actor: null, requestId, sourceIp: request.ip ?? '' }, next);
}

function securityHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Referrer-Policy', 'same-origin');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Vary', 'Accept, Authorization, Cookie');
  next();
}
