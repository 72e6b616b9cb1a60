import { RequestMapping, type RequestMethod, type Type } from '@nestjs/common';
import { prototypeOf } from '../records.js';
import { Route, type RouteInfo } from './route.js';

export interface GeneratedRoute {
  method: RequestMethod;
  /** Path below the controller's path. */
  path: string;
  info: RouteInfo;
  /** Parameters of the handler, in order: `[Target(), Body()]`. */
  parameters: readonly ParameterDecorator[];
  /** Additional decorators of the method, such as headers of every response. */
  decorators?: readonly MethodDecorator[];
  handler: (...parameters: never[]) => unknown;
}

/** Adds a route to a controller class, with the same effect as decorators on a method. */
export function addRoute(
  target: Type,
  name: string,
  { method, path, info, parameters, decorators = [], handler }: GeneratedRoute,
): void {
  const prototype = prototypeOf(target);
  // Route metadata is stored on the function. One handler can serve several classes, so each class gets
  // its own wrapper.
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
