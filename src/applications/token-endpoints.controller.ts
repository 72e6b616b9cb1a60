import { Controller, Get, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import * as json from '../common/fields/json-schema.js';
import type { ApiRequest } from '../common/http/request.js';
import type { Reply } from '../common/http/reply.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import { AuthorizationServer } from './authorization-server.service.js';

/** Error response of the protocol; `detail` if the body could not be parsed. */
const FAULT = json.object(
  {
    error: json.described(json.STRING, 'Error code of OAuth 2.'),
    error_description: json.described(json.STRING, 'Explanation for developers.'),
    detail: json.described(json.STRING, 'Reason, as a sentence.'),
  },
  ['error', 'error_description', 'detail'],
);
const DOCUMENT = json.object({
  authorize: json.described(json.STRING, 'Page on which users permit the access.'),
  token: json.described(json.STRING, 'Path to get tokens.'),
  revoke_token: json.described(json.STRING, 'Path to end a grant.'),
});
const ROUTE = {
  // Applications authenticate with their own id and secret.
  access: 'signature',
  sender: 'the id of the application, and its secret if it has one',
  status: 200,
  alternatives: [
    { status: 400, description: 'The request or the grant is not valid.', response: FAULT },
    { status: 401, description: 'The client is not valid.', response: FAULT },
  ],
} as const satisfies Partial<RouteInfo>;

/** Endpoints for applications (docs/applications.md). */
@ApiTags('applications')
@Controller('api/o')
export class TokenEndpointsController {
  constructor(private readonly server: AuthorizationServer) {}

  @Route({
    access: 'public',
    operationId: 'o_root',
    summary: 'Paths of the endpoints for applications.',
    response: DOCUMENT,
  })
  @Get()
  paths(): object {
    return {
      authorize: '/api/o/authorize/',
      token: '/api/o/token/',
      revoke_token: '/api/o/revoke_token/',
    };
  }

  @Route({
    ...ROUTE,
    operationId: 'o_token',
    summary: 'Exchange an authorization code, a refresh token or a password for tokens.',
    response: json.object({
      access_token: json.described(json.STRING, 'Token for the header `Authorization: Bearer`.'),
      token_type: json.described(json.STRING, 'Always `Bearer`.'),
      expires_in: json.described(json.INTEGER, 'Seconds until the token expires.'),
      refresh_token: json.described(json.STRING, 'Token that gets the next access token.'),
      scope: json.described(json.STRING, 'Granted scope.'),
    }),
  })
  @Post('token')
  token(@Req() request: ApiRequest): Promise<Reply> {
    return this.server.token(request);
  }

  @Route({
    ...ROUTE,
    operationId: 'o_revoke_token',
    summary: 'End the grant that an access or refresh token belongs to.',
    response: json.object({}),
  })
  @Post('revoke_token')
  revoke(@Req() request: ApiRequest): Promise<Reply> {
    return this.server.revoke(request);
  }
}
