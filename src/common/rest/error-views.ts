import type { Response } from 'express';
import type { ApiRequest } from '../http/request.js';
import type { ErrorAnswer } from './errors.filter.js';

/** Shows a refusal in another form than JSON, to those who ask for one. */
export abstract class ErrorViews {
  /** @returns whether the answer was written; false leaves it to the caller as JSON */
  abstract send(request: ApiRequest, response: Response, answer: ErrorAnswer): Promise<boolean>;
}
