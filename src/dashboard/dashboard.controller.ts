import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { setPageHeaders } from '../common/pages/layout.js';
import { openPage } from '../common/pages/page-context.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route } from '../common/rest/route.js';
import { dashboardPage } from './dashboard-page.js';
import { DashboardService } from './dashboard.service.js';

/** The root is for people; other clients are sent on to the API before they come here. */
@ApiTags('root')
@Controller()
export class DashboardController {
  constructor(private readonly service: DashboardService) {}

  @Route({
    kind: 'document',
    access: 'authenticated',
    outsideApi: true,
    operationId: 'dashboard',
    summary:
      'What has happened lately, as a page. Clients that do not ask for HTML are sent to the API.',
    produces: 'text/html',
    redirects: true,
    response: { type: 'string' },
  })
  @Get()
  async show(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    const dashboard = await this.service.load(request.actor);
    setPageHeaders(response);
    response.send(dashboardPage(openPage(request, response), dashboard));
  }
}
