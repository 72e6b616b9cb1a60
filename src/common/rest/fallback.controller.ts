import { All, Controller, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Actor } from '../access.js';
import { MethodNotAllowed, NotFound } from '../errors/errors.js';
import { OptionsService } from './options.service.js';
import type { ApiRequest } from '../http/request.js';
import { CurrentActor } from './parameters.js';
import { RouteTable } from './route-table.service.js';

/**
 * Handles requests that no other route matched: OPTIONS of every URL, 405 with `Allow` for an unsupported
 * method of a known URL, and 404 for all other requests. The module of this controller is imported last
 * so that its wildcard is matched last.
 */
@ApiExcludeController()
@Controller(['api', ''])
export class FallbackController {
  constructor(
    private readonly table: RouteTable,
    private readonly options: OptionsService,
  ) {}

  @All('{*path}')
  async fallback(
    @Req() { path, method }: ApiRequest,
    @CurrentActor() actor: Actor | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const entry = this.table.match(path);
    if (!entry) throw new NotFound('The requested resource could not be found.');
    if (method !== 'OPTIONS') throw new MethodNotAllowed(method);
    const { allow, body } = await this.options.describe(entry, path, actor ?? null);
    response.setHeader('Allow', allow);
    return body;
  }
}
