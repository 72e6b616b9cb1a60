import { Req, RequestMapping, type RequestMethod, type Type } from '@nestjs/common';
import type { ApiRequest } from '../http/request.js';
import { Route, type RouteInfo } from './route.js';

export interface GeneratedRoute {
  method: RequestMethod;
  /** Below the controller's path. */
  path: string;
  info: RouteInfo;
  handler: (request: ApiRequest) => Promise<unknown>;
}

/** Gives a controller class one more route, as its decorators would. */
export function addRoute(
  target: Type,
  name: string,
  { method, path, info, handler }: GeneratedRoute,
): void {
  const prototype = target.prototype as object;
  // One function may serve several classes; route metadata sits on the function, so each gets its own.
  const own = function (this: unknown, request: ApiRequest): Promise<unknown> {
    return handler.call(this, request);
  };
  Object.defineProperty(own, 'name', { value: name });
  const descriptor = { value: own, writable: true, configurable: true, enumerable: false };
  Object.defineProperty(prototype, name, descriptor);
  RequestMapping({ path, method })(prototype, name, descriptor);
  Req()(prototype, name, 0);
  Route(info)(prototype, name, descriptor);
}
