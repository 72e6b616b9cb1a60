/** Calls handlers of routes directly, without HTTP, guards and interceptors. */
import type { INestApplicationContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService } from '@nestjs/core';

import { ROUTE_INFO } from '../../src/common/rest/route.js';
import type { TableRoute } from '../../src/common/rest/route-table.service.js';

type Controller = Record<string, (...args: unknown[]) => unknown>;

/** Metadata of a parameter with a custom decorator. */
interface Parameter {
  index: number;
  data: unknown;
  factory(data: unknown, context: object): unknown;
}

/** Returns the controller of a route. One handler may serve several controllers. */
function controllerOf(app: INestApplicationContext, { name, info }: TableRoute): Controller {
  const found = app
    .get(DiscoveryService, { strict: false })
    .getControllers()
    .find(({ instance }) => {
      const handler = instance?.[name] as object | undefined;
      return handler !== undefined && Reflect.getMetadata(ROUTE_INFO, handler) === info;
    });
  if (!found) throw new Error(`No controller has ${name}`);
  return found.instance as Controller;
}

/** Calls a handler with the arguments that its custom parameter decorators read from a request. */
export function callHandler(
  app: INestApplicationContext,
  route: TableRoute,
  request: object,
): unknown {
  const { prototype, name } = route;
  const noted = Reflect.getMetadata(ROUTE_ARGS_METADATA, prototype.constructor, name) as object;
  const controller = controllerOf(app, route);
  const context = {
    switchToHttp: () => ({ getRequest: () => request }),
    getHandler: () => controller[name],
  };
  const given: unknown[] = [];
  for (const { index, data, factory } of Object.values(noted) as Parameter[]) {
    given[index] = factory(data, context);
  }
  return controller[name]?.(...given);
}
