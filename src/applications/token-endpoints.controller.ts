import { Controller, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { described, INTEGER, object, STRING } from '../common/fields/json-schema.js';
import type { ApiRequest } from '../common/http/request.js';
import type { Reply } from '../common/http/reply.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import { AuthorizationServer } from './authorization-server.service.js';

/** Error response of the protocol; `detail` if the body could not be parsed. */
const FAULT = object(
  {
    error: described(STRING, 'Error code of OAuth 2.'),
    error_description: described(STRING, 'Explanation for developers.'),
    detail: described(STRING, 'Reason, as a sentence.'),
  },
  ['error', 'error_description', 'detail'],
);
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
    ...ROUTE,
    operationId: 'o_token',
    summary: 'Exchange an authorization code, a refresh token or a password for tokens.',
    response: object({
      access_token: described(STRING, 'Token for the header `Authorization: Bearer`.'),
      token_type: described(STRING, 'Always `Bearer`.'),
      expires_in: described(INTEGER, 'Seconds until the token expires.'),
      refresh_token: described(STRING, 'Token that gets the next access token.'),
      scope: described(STRING, 'Granted scope.'),
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
    response: object({}),
  })
  @Post('revoke_token')
  revoke(@Req() request: ApiRequest): Promise<Reply> {
    return this.server.revoke(request);
  }
}
