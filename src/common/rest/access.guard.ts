import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { MethodNotAllowed } from '../errors/errors.js';
import type { ApiRequest } from '../http/request.js';
import { ResourceService } from './resource.service.js';
import { ROUTE_INFO, type RouteInfo } from './route.js';
import { allowOf, RouteTable } from './route-table.js';

/**
 * Decides who may use a route on the object in its URL, before a body is looked at: what the route's
 * declaration `needs` of its `parent` is asked of the policy, in the statement that loads the row.
 * The handler gets the row by `@Target()`.
 *
 * Unknown objects are 404, those the caller may not read, or not do this to, 403.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly table: RouteTable,
    private readonly resources: ResourceService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const info = this.reflector.get<RouteInfo | undefined>(ROUTE_INFO, context.getHandler());
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    this.assertAllowed(request, http.getResponse<Response>());
    if (info?.parent && info.access === 'authenticated') {
      const { needs: action = 'read', refusal } = info;
      request.target = await this.resources.load(info.parent, request.params.id, request.actor, {
        action,
        refusal,
      });
    }
    return true;
  }

  /** Every answer tells `Allow`. Another pattern may take the path: `schedules/preview/` is no id. */
  private assertAllowed({ path, method }: ApiRequest, response: Response): void {
    const entry = this.table.match(path);
    if (!entry) return;
    response.setHeader('Allow', allowOf(entry));
    const asked = method === 'HEAD' ? 'GET' : method;
    if (asked !== 'OPTIONS' && !entry.routes.has(asked)) throw new MethodNotAllowed(method);
  }
}
