import type { IncomingMessage } from 'node:http';
import express, { type Request, type RequestHandler, type Response } from 'express';
import multer from 'multer';
import { isInexact, parseExact } from '../exact-json.js';
import { assertBoundedJson, JsonTooLarge } from '../fields/json-bounds.js';
import {
  BadRequest,
  DomainError,
  PayloadTooLarge,
  UnsupportedMediaType,
} from '../errors/errors.js';
import { PARSES } from './negotiation.js';
import { isRecord, memberOf } from '../records.js';
import { Yielder } from '../yielder.js';
import type { UnauthenticatedBytes } from './unauthenticated-bytes.service.js';

const MAX_PARAMETERS = 1000;
const UNREADABLE = 'The request body could not be read.';

/**
 * Reads the body of a request into `request.body`.
 *
 * @throws DomainError
 */
export type BodyReader = (request: Request, response: Response) => Promise<void>;

/**
 * Returns a reader that parses the three request content types of the contract into a plain object.
 *
 * @param maxValues maximum number of values in a JSON body
 */
export function bodyReader(limitBytes: number, maxValues: number): BodyReader {
  // `name[4000000000]` would create a list with so many members, through which validation iterates.
  const limits = { fieldSize: limitBytes, fields: MAX_PARAMETERS, files: 0, fieldNestingDepth: 0 };
  const multipart = multer({ limits });
  const parsers = [
    express.json({ limit: limitBytes, strict: false, verify: boundedJson(maxValues) }),
    express.urlencoded({ limit: limitBytes, extended: false, parameterLimit: MAX_PARAMETERS }),
    boundedMultipart(limitBytes),
    multipart.none(),
  ].map((parser) => withDomainErrors(parser, limitBytes));
  return async (request, response) => {
    if (hasBody(request)) {
      assertPlain(request);
      const yielder = new Yielder();
      for (const parse of parsers) await parse(request, response);
      // Express's parser reports syntax errors but rounds large numbers, so the body is parsed again.
      const exact = memberOf(request, 'exact');
      if (exact instanceof Buffer) request.body = parseExact(exact.toString('utf8'));
      // The validation of a large body takes as long as its parsing.
      await yielder.yieldIfDue();
    }
    request.body = parsedBody(request);
  };
}

/** Request with the bytes of a JSON body whose numbers or order of names `JSON.parse` would change. */
interface ExactRequest {
  exact?: Buffer;
}

/**
 * Verifies the depth and the number of values of JSON before it is parsed. Accepts UTF-8 only, because the
 * check reads single bytes.
 */
const boundedJson =
  (maxValues: number) =>
  (
    request: IncomingMessage & ExactRequest,
    _response: unknown,
    bytes: Buffer,
    encoding: string,
  ): void => {
    if (encoding !== 'utf-8') throw new UnsupportedMediaType();
    const text = bytes.toString('latin1');
    assertBoundedJson(text, maxValues);
    if (isInexact(text)) request.exact = bytes;
  };

/**
 * @throws UnsupportedMediaType for a compressed body, whose decompressed size could be arbitrarily large
 */
export function assertPlain({ headers }: Pick<Request, 'headers'>): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (!['', 'identity'].includes(encoding)) {
    throw new UnsupportedMediaType('The body must not be compressed.');
  }
}

export const hasBody = ({ headers }: Pick<Request, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Returns a reader of raw bytes. Webhook receivers verify the signature of the bytes as sent, before
 * anything is decompressed or parsed (docs/contract/webhooks.md#order-of-a-delivery).
 *
 * @param counter counts the bytes until the request is over
 */
export const rawBody =
  (limitBytes: number, counter: UnauthenticatedBytes): BodyReader =>
  async (request, response) => {
    if (!hasBody(request)) return;
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
      throw new PayloadTooLarge(limitBytes);
    }
    try {
      request.body = await wholeBody(request, limitBytes, (bytes) => counter.add(response, bytes));
    } catch (error) {
      // The rest of the body is discarded, so that the connection can be reused.
      request.resume();
      throw error instanceof DomainError ? error : new BadRequest(UNREADABLE);
    }
  };

/**
 * Reads the body with event listeners instead of the stream's iterator. Unauthenticated clients can send
 * these requests, and the iterator costs as much as the signature. The iterator would also close the
 * connection, which is still needed for an error response.
 *
 * @param onBytes receives the size of each chunk before the chunk is stored
 * @throws PayloadTooLarge, the error of `onBytes`, or the error of the connection
 */
function wholeBody(
  request: Request,
  limitBytes: number,
  onBytes: (bytes: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
    };
    const onError = (error: unknown): void => {
      stop();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      try {
        size += chunk.length;
        if (size > limitBytes) throw new PayloadTooLarge(limitBytes);
        onBytes(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        onError(error);
      }
    };
    const onEnd = (): void => {
      stop();
      const [first = Buffer.alloc(0), ...others] = chunks;
      resolve(others.length === 0 ? first : Buffer.concat(chunks));
    };
    const onClose = (): void => onError(new Error('The connection ended before the body.'));
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
    if (request.closed) onClose();
  });
}

/** Verifies the total length by its header: multer limits each field, but not their sum. */
function boundedMultipart(limitBytes: number): RequestHandler {
  return (request, _response, next) => {
    if (!request.is('multipart/form-data')) next();
    else if (request.headers['content-length'] === undefined) {
      next(new BadRequest('A multipart body needs the header Content-Length.'));
    } else if (Number(request.headers['content-length']) > limitBytes) {
      next(new PayloadTooLarge(limitBytes));
    } else next();
  };
}

/** Converts a parser's error to a domain error, because the framework would drop its details. */
function withDomainErrors(parser: RequestHandler, limitBytes: number): BodyReader {
  return (request, response) =>
    new Promise((resolve, reject) => {
      void parser(request, response, (error?: unknown) => {
        if (error === undefined || error === null) resolve();
        else reject(domainErrorOf(error, limitBytes));
      });
    });
}

/** Maps an error by its `type` (Express's parsers) or `code` (multer). */
function domainErrorOf(error: unknown, limitBytes: number): DomainError {
  if (error instanceof DomainError) return error;
  if (error instanceof JsonTooLarge) return new BadRequest(`JSON parse error - ${error.message}`);
  switch (memberOf(error, 'type') ?? memberOf(error, 'code')) {
    case 'entity.parse.failed':
      return new BadRequest(
        `JSON parse error - ${String(memberOf(error, 'message') ?? 'invalid')}`,
      );
    case 'entity.too.large':
    case 'LIMIT_FIELD_VALUE':
      return new PayloadTooLarge(limitBytes);
    case 'parameters.too.many':
    case 'LIMIT_FIELD_COUNT':
      return new BadRequest(`The request body has more than ${MAX_PARAMETERS} parameters.`);
    case 'LIMIT_FIELD_NESTING':
      return new BadRequest('In forms, lists and objects are JSON text.');
    case 'LIMIT_FILE_COUNT':
    case 'LIMIT_UNEXPECTED_FILE':
      return new BadRequest('Files are not accepted.');
    case 'charset.unsupported':
      return new UnsupportedMediaType();
    default:
      return new BadRequest(UNREADABLE);
  }
}

function parsedBody(request: Request): Record<string, unknown> {
  const body: unknown = request.body;
  if (!hasBody(request)) return asBody(body ?? {});
  const isSupported = Boolean(request.is([...PARSES]));
  if (!isSupported && !['GET', 'HEAD', 'OPTIONS'].includes(request.method)) {
    throw new UnsupportedMediaType();
  }
  // Parsers skip the body of a closed connection, which must not be mistaken for an empty body.
  if (isSupported && body === undefined) throw new BadRequest('The request body is incomplete.');
  return asBody(body === undefined ? {} : body);
}

/** @throws BadRequest if the parsed body is not an object */
export function asBody(body: unknown): Record<string, unknown> {
  if (!isRecord(body)) throw new BadRequest('JSON parse error - not a JSON object');
  return body;
}
