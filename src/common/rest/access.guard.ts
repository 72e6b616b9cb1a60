import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import type { Actor } from '../access.js';
import { Forbidden, MethodNotAllowed, NotFound } from '../errors/errors.js';
import type { ApiRequest } from '../http/request.js';
import { currentScope } from '../http/request-scope.js';
import type { Row } from '../resource/define-resource.js';
import { CommonServices } from './common-services.service.js';
import { ROUTE_INFO, type RouteInfo, type SystemRole } from './route.js';
import { allowOf, RouteTable } from './route-table.service.js';

/**
 * Authorizes a route before the body is read. Evaluates the action of the parent's policy that the
 * route declares in `needs`, in the same statement that loads the row of the URL; the handler receives
 * the row through `@Target()`. A route can also require a `systemRole`. Without a parent and a
 * `systemRole`, every authenticated caller has access.
 *
 * Unknown objects give 404. Objects that the caller cannot read, or for which the caller lacks the
 * action, give 403.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly table: RouteTable,
    private readonly services: CommonServices,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const info = this.reflector.get<RouteInfo | undefined>(ROUTE_INFO, context.getHandler());
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    this.assertMethod(request, http.getResponse<Response>());
    const isOpen = info?.access !== 'authenticated' || !(info.systemRole ?? info.parent);
    return isOpen || this.authorize(info, request);
  }

  private async authorize(info: RouteInfo, request: ApiRequest): Promise<boolean> {
    if (info.systemRole) await this.assertSystemRole(info, info.systemRole, request);
    if (info.parent) await this.loadRows(info, info.parent, request);
    return true;
  }

  /**
   * Sets `Allow` on every response, from the most specific pattern of the path: `schedules/preview/` also
   * matches the pattern of `schedules/:id/`.
   *
   * @throws MethodNotAllowed for a method without a route
   */
  private assertMethod({ path, method }: ApiRequest, response: Response): void {
    const entry = this.table.match(path);
    if (!entry) return;
    // An NDJSON response has already begun when its request is authorized again.
    if (!response.headersSent) response.setHeader('Allow', allowOf(entry));
    const verb = method === 'HEAD' ? 'GET' : method;
    if (verb !== 'OPTIONS' && !entry.routes.has(verb)) throw new MethodNotAllowed(method);
  }

  /** @throws Forbidden; NotFound if an auditor requests a document of the URL that does not exist */
  private async assertSystemRole(
    info: RouteInfo,
    systemRole: SystemRole,
    { actor, params }: ApiRequest,
  ): Promise<void> {
    if (hasSystemRole(actor, systemRole)) return;
    const isUnknown =
      hasSystemRole(actor, 'auditor') &&
      info.fieldsAt !== undefined &&
      (await info.fieldsAt(this.services.providers.rulesOf(info), params)) === undefined;
    throw isUnknown ? new NotFound() : new Forbidden(info.resource?.policy.listRefusal);
  }

  private async loadRows(
    { needs: action = 'read', refusal, member }: RouteInfo,
    parent: NonNullable<RouteInfo['parent']>,
    request: ApiRequest,
  ): Promise<void> {
    const { params, actor } = request;
    const { resources } = this.services;
    request.target = await resources.load(parent, params.id, actor, { action, refusal });
    const scope = currentScope();
    const { id } = request.target;
    const authorize = (): Promise<Row> => resources.load(parent, id, actor, { action, refusal });
    if (scope) scope.target = { type: parent.type, id, authorize };
    if (!member) return;
    const memberId = params[member.param] ?? '';
    request.member = await resources.load(member.resource, memberId, actor, {
      action: member.needs,
    });
    if (!member.belongs(request.member, request.target)) throw new NotFound();
  }
}

/** Returns true if the caller has the role that a route requires. */
export const hasSystemRole = (actor: Actor, systemRole: SystemRole): boolean =>
  actor.isSuperuser || (systemRole === 'auditor' && actor.isSystemAuditor);
