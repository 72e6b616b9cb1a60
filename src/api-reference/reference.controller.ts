import { Controller, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Reply } from '../common/http/reply.js';
import { pageReply } from '../common/pages/layout.js';
import type { PageContext } from '../common/pages/page-context.js';
import { OpenedPage } from '../common/pages/page-parameter.js';
import { NotFound } from '../common/errors/errors.js';
import { Route } from '../common/rest/route.js';
import { ApiDocument } from '../common/openapi/api-document.service.js';
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
  index(@OpenedPage() page: PageContext): Reply {
    return pageReply(indexPage(page, this.documents.get()));
  }

  @Route({ ...PAGE, operationId: 'reference_schema', summary: 'Reference of one kind of object.' })
  @Get('schemas/:name')
  schema(@OpenedPage() page: PageContext, @Param('name') name: string): Reply {
    const schemas = schemasOf(this.documents.get());
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (!schema) throw new NotFound();
    return pageReply(schemaPage(page, name, schema));
  }

  @Route({ ...PAGE, operationId: 'reference_subject', summary: 'Reference of one subject.' })
  @Get(':tag')
  subject(@OpenedPage() page: PageContext, @Param('tag') tag: string): Reply {
    const operations = operationsByTag(this.documents.get()).get(tag);
    if (!operations) throw new NotFound();
    return pageReply(tagPage(page, tag, operations));
  }
}
