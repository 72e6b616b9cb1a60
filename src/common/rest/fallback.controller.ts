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
 * Answers what no route answered: OPTIONS of every URL, 405 with `Allow` for a method a URL does not
 * know, 404 for the rest. Its module is imported last, so that its wildcard comes last.
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
