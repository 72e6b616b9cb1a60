import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import type { PlainRequest } from '../../common/http/request.js';
import { openPage } from './page-context.js';

/** Injects the `PageContext` of the request into a handler parameter. */
export const OpenedPage = createParamDecorator((_data: undefined, context: ExecutionContext) => {
  const http = context.switchToHttp();
  return openPage(http.getRequest<PlainRequest>(), http.getResponse<Response>());
});
