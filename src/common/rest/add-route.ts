import { RequestMapping, type RequestMethod, type Type } from '@nestjs/common';
import { prototypeOf } from '../records.js';
import { Route, type RouteInfo } from './route.js';

export interface GeneratedRoute {
  method: RequestMethod;
  /** Below the controller's path. */
  path: string;
  info: RouteInfo;
  /** What the handler is given, in order: `[Target(), Body()]`. */
  parameters: readonly ParameterDecorator[];
  /** Further decorators of the method, such as headers of every answer. */
  decorators?: readonly MethodDecorator[];
  handler: (...parameters: never[]) => unknown;
}

/** Gives a controller class one more route, as its decorators would. */
export function addRoute(
  target: Type,
  name: string,
  { method, path, info, parameters, decorators = [], handler }: GeneratedRoute,
): void {
  const prototype = prototypeOf(target);
  // One function may serve several classes; route metadata sits on the function, so each gets its own.
  const own = function (this: unknown, ...given: never[]): unknown {
    return handler.apply(this, given);
  };
  Object.defineProperty(own, 'name', { value: name });
  const descriptor = { value: own, writable: true, configurable: true, enumerable: false };
  Object.defineProperty(prototype, name, descriptor);
  RequestMapping({ path, method })(prototype, name, descriptor);
  parameters.forEach((decorate, index) => decorate(prototype, name, index));
  for (const decorate of [...decorators, Route(info)]) decorate(prototype, name, descriptor);
}
