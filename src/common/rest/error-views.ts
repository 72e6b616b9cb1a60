import type { Response } from 'express';
import type { ApiRequest } from '../http/request.js';
import type { ErrorAnswer } from './errors.filter.js';

/** Renders an error in another format than JSON for clients that accept one. */
export abstract class ErrorViews {
  /** @returns true if the response was written; false if the filter must send JSON */
  abstract send(request: ApiRequest, response: Response, answer: ErrorAnswer): Promise<boolean>;
}
