import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import multer from 'multer';
import { MAX_DEPTH } from '../fields/text.js';
import { BadRequest, UnsupportedMediaType } from './errors.js';
import { PARSES } from './options.service.js';

/** The three request content types of the contract, each into one plain object. */
export function bodyParsers(limitBytes: number): RequestHandler[] {
  return [
    express.json({ limit: limitBytes, strict: false }),
    express.urlencoded({ limit: limitBytes, extended: false, parameterLimit: 1000 }),
    multer({ limits: { fieldSize: limitBytes, fields: 1000, files: 0 } }).none() as RequestHandler,
    requireObject,
  ];
}

/** Receivers verify the bytes as they came; nothing is parsed before (decision 14). */
export const rawBody = (limitBytes: number): RequestHandler =>
  express.raw({ limit: limitBytes, type: () => true, inflate: false });

function requireObject(request: Request, _response: Response, next: NextFunction): void {
  if (Buffer.isBuffer(request.body)) {
    next();
    return;
  }
  const hasBody =
    request.headers['transfer-encoding'] !== undefined ||
    Number(request.headers['content-length'] ?? 0) > 0;
  if (hasBody && !request.is([...PARSES]) && !['GET', 'HEAD', 'OPTIONS'].includes(request.method)) {
    next(new UnsupportedMediaType());
    return;
  }
  request.body = asBody(request.body ?? {});
  next();
}

/** @throws BadRequest for a parsed body that is no object, or that is nested too deep */
export function asBody(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadRequest('JSON parse error - not a JSON object');
  }
  if (depthOf(body) > MAX_DEPTH) {
    throw new BadRequest(`JSON parse error - nested deeper than ${MAX_DEPTH} levels`);
  }
  return body as Record<string, unknown>;
}

/** Nesting of a JSON value, up to just past the limit; iterative, since the value is untrusted. */
function depthOf(value: object): number {
  let level: object[] = [value];
  for (let depth = 1; ; depth++) {
    const next: object[] = [];
    for (const item of level) {
      for (const child of Object.values(item) as unknown[]) {
        if (child !== null && typeof child === 'object') next.push(child);
      }
    }
    if (next.length === 0 || depth > MAX_DEPTH) return depth;
    level = next;
  }
}
