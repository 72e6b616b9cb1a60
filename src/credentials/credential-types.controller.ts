import { Body, Post } from '@nestjs/common';
import { activityOf } from '../activity/sublists.js';
import * as json from '../common/fields/json-schema.js';
import { CREDENTIAL_TESTS, LimitedPerUser } from '../common/rate/rate.guard.js';
import type { Row } from '../common/resource/define-resource.js';
import { Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { Route } from '../common/rest/route.js';
import { children, SubList } from '../common/rest/sublist.js';
import { credentialTypes } from './credential-types.resource.js';
import { LookupTests } from './lookup-tests.service.js';
import { LookupRequest } from './lookup.dto.js';

@Resource(credentialTypes)
@SubList('credentials', children('credentials'))
@SubList('activity_stream', activityOf())
export class CredentialTypesController extends ResourceController(credentialTypes) {
  constructor(private readonly tests: LookupTests) {
    super();
  }

  @Route({
    operationId: 'credential_types_test',
    summary: 'Test a secret store by fetching a value, with inputs that are not stored.',
    parent: credentialTypes,
    needs: 'change',
    response: json.object({}),
    status: 202,
    isDone: true,
  })
  @Post(':id/test')
  @LimitedPerUser(CREDENTIAL_TESTS)
  async test(@Target() type: Row, @Body() body: LookupRequest): Promise<object> {
    await this.tests.ofType(type.id, body);
    return {};
  }
}
