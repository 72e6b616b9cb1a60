import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { openPage } from './page-context.js';

/** What a page of ours knows of its request, for handlers that write one: `PageContext`. */
export const OpenedPage = createParamDecorator((_data: undefined, context: ExecutionContext) => {
  const http = context.switchToHttp();
  return openPage(http.getRequest<Request>(), http.getResponse<Response>());
});
