import { All, Controller, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { MethodNotAllowed, NotFound } from '../errors/errors.js';
import { OptionsService } from './options.service.js';
import type { ApiRequest } from '../http/request.js';
import { allowOf, RouteTable } from './route-table.js';

/**
 * Answers what no route answered: OPTIONS of every URL, 405 with `Allow` for a method a URL does not
 * know, 404 for the rest. Its module is imported last, so that its wildcard comes last.
 */
@ApiExcludeController()
@Controller('api')
export class FallbackController {
  constructor(
    private readonly table: RouteTable,
    private readonly options: OptionsService,
  ) {}

  @All('{*path}')
  async fallback(
    @Req() request: ApiRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const entry = this.table.match(request.path);
    if (!entry) throw new NotFound('The requested resource could not be found.');
    response.setHeader('Allow', allowOf(entry));
    if (request.method === 'OPTIONS') {
      return this.options.describe(entry, request.path, request.actor ?? null);
    }
    throw new MethodNotAllowed(request.method);
  }
}
