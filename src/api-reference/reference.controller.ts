import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { setPageHeaders } from '../common/pages/layout.js';
import { openPage } from '../common/pages/page-context.js';
import { NotFound } from '../common/errors/errors.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route } from '../common/rest/route.js';
import { ApiDocument } from '../common/openapi/api-document.js';
import { STRING } from '../common/fields/json-schema.js';
import { indexPage, operationsByTag, schemaPage, tagPage } from './reference-pages.js';
import { schemasOf } from './schema-view.js';

const PAGE = {
  kind: 'document',
  access: 'public',
  produces: 'text/html',
  response: STRING,
} as const;

/** The OpenAPI document for reading: pages that need no script, beside the explorer. */
@ApiTags('documentation')
@Controller('api/docs/reference')
export class ReferenceController {
  constructor(private readonly documents: ApiDocument) {}

  @Route({ ...PAGE, operationId: 'reference_index', summary: 'Reference of all operations.' })
  @Get()
  index(@Req() request: ApiRequest, @Res() response: Response): void {
    setPageHeaders(response);
    response.send(indexPage(openPage(request, response), this.documents.get()));
  }

  @Route({ ...PAGE, operationId: 'reference_schema', summary: 'Reference of one kind of object.' })
  @Get('schemas/:name')
  schema(@Req() request: ApiRequest, @Res() response: Response): void {
    const name = request.params.name ?? '';
    const schemas = schemasOf(this.documents.get());
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (!schema) throw new NotFound();
    setPageHeaders(response);
    response.send(schemaPage(openPage(request, response), name, schema));
  }

  @Route({ ...PAGE, operationId: 'reference_subject', summary: 'Reference of one subject.' })
  @Get(':tag')
  subject(@Req() request: ApiRequest, @Res() response: Response): void {
    const tag = request.params.tag ?? '';
    const operations = operationsByTag(this.documents.get()).get(tag);
    if (!operations) throw new NotFound();
    setPageHeaders(response);
    response.send(tagPage(openPage(request, response), tag, operations));
  }
}
