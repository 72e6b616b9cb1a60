import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import OAuth2Server from '@node-oauth/oauth2-server';
import { TokensRepository } from '../auth/tokens.repository.js';
import { TokensService } from '../auth/tokens.service.js';
import { tokenDigest } from '../common/crypto/tokens.js';
import { BadRequest } from '../common/errors/errors.js';
import type { ApiRequest } from '../common/http/request.js';
import { Reply } from '../common/http/reply.js';
import { memberOf, textMembers } from '../common/records.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { Settings } from '../config/settings.js';
import type { Application } from './application.entity.js';
import { ApplicationsRepository } from './applications.repository.js';
import {
  CODE_LIFETIME,
  DEFAULT_SCOPE,
  OAuthModel,
  SCOPES,
  type GrantUser,
} from './oauth-model.service.js';
import { redirectUrisOf } from './redirect-uris.js';

/** Responses with tokens are not cached (RFC 6749, section 5.1). */
const NOT_CACHED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/** Headers with which the library accepts a body that is already parsed. */
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1' };

/** Parameters of an authorization request (RFC 6749, section 4.1.1; RFC 7636, section 4.3). */
export const AUTHORIZATION_PARAMETERS: readonly string[] = [
  'client_id',
  'response_type',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
];

/** Parameters of a request, as text. */
export type OAuthParameters = Readonly<Record<string, string>>;

/** Authorization request that requires the consent of the user. */
export interface ConsentRequest {
  application: RowOf<Application>;
  redirectUri: string;
  scope: readonly string[];
}

/**
 * OAuth 2 authorization server for the applications of users (RFC 6749, 7636, 7009; docs/applications.md).
 * The library implements the protocol.
 */
@Injectable()
export class AuthorizationServer {
  private readonly server: OAuth2Server;

  constructor(
    private readonly applications: ApplicationsRepository,
    private readonly tokens: TokensRepository,
    private readonly issuer: TokensService,
    private readonly model: OAuthModel,
    private readonly settings: Settings,
  ) {
    this.server = new OAuth2Server({ model });
  }

  /**
   * Returns the application, the redirect URI and the scope of an authorization request.
   *
   * @throws BadRequest for a wrong application or redirect URI, to which the user must not be
   *   redirected
   */
  async consentRequest(parameters: OAuthParameters): Promise<ConsentRequest> {
    const application = await this.applications.byClientId(parameters.client_id ?? '');
    if (application?.authorization_grant_type !== 'authorization-code') {
      throw new BadRequest('There is no application with this client_id.');
    }
    const { uris } = redirectUrisOf(application.redirect_uris);
    const redirectUri = parameters.redirect_uri ?? (uris.length === 1 ? uris[0] : undefined);
    if (redirectUri === undefined || !uris.includes(redirectUri)) {
      throw new BadRequest('The redirect_uri is not registered for the application.');
    }
    const scope = parameters.scope?.split(' ').filter((name) => SCOPES.includes(name));
    return { application, redirectUri, scope: scope?.length ? scope : DEFAULT_SCOPE };
  }

  /**
   * Issues an authorization code.
   *
   * @param isAllowed false: the user refused
   * @returns URL of the application, with the code or an error
   * @throws BadRequest for a wrong application or redirect URI, to which the user must not be
   *   redirected
   */
  async authorize(parameters: OAuthParameters, user: number, isAllowed: boolean): Promise<string> {
    const body = { ...parameters, allowed: String(isAllowed) };
    const request = new OAuth2Server.Request({ headers: {}, method: 'POST', query: {}, body });
    const response = new OAuth2Server.Response();
    const hasRedirectUri = parameters.redirect_uri !== undefined;
    const handle = (): GrantUser => ({ id: user, grant: randomUUID(), hasRedirectUri });
    try {
      await this.server.authorize(request, response, {
        authenticateHandler: { handle },
        authorizationCodeLifetime: CODE_LIFETIME,
        allowEmptyState: true,
      });
    } catch (error) {
      throwUnlessOAuth(error);
      if (!response.get('location')) throw new BadRequest(error.message);
    }
    return String(response.get('location'));
  }

  /** Handles a request to the token endpoint. */
  async token(request: ApiRequest): Promise<Reply> {
    const body = textMembers(request.body);
    if (body.grant_type === 'password' && !this.settings.OAUTH2_PASSWORD_GRANT) {
      return refusal(new OAuth2Server.UnsupportedGrantTypeError('The password grant is off.'));
    }
    const { authorization = '' } = request.headers;
    const headers = { ...FORM, authorization };
    const tokenRequest = new OAuth2Server.Request({ headers, method: 'POST', query: {}, body });
    const response = new OAuth2Server.Response();
    try {
      await this.server.token(tokenRequest, response, {
        accessTokenLifetime: this.settings.OAUTH2_ACCESS_TOKEN_AGE,
        refreshTokenLifetime: this.settings.OAUTH2_REFRESH_TOKEN_AGE,
        requireClientAuthentication: {
          authorization_code: false,
          refresh_token: false,
          password: false,
        },
      });
      return new Reply(200, response.body, NOT_CACHED);
    } catch (error) {
      throwUnlessOAuth(error);
      return refusal(error);
    }
  }

  /** Handles a request to the revocation endpoint (RFC 7009): unknown tokens are not an error. */
  async revoke(request: ApiRequest): Promise<Reply> {
    const body = textMembers(request.body);
    const client = await this.model.getClient(...credentialsOf(request, body));
    if (!client) return refusal(new OAuth2Server.InvalidClientError('The client is not valid.'));
    if (!body.token) {
      return refusal(new OAuth2Server.InvalidRequestError('Missing parameter: `token`'));
    }
    const grant = await this.tokens.grantOf(tokenDigest(body.token), Number(client.id));
    if (grant !== null) await this.issuer.endGrant(grant);
    return new Reply(200, {}, NOT_CACHED);
  }
}

/** Returns the client and secret of the Authorization header, or of the body. */
function credentialsOf(
  { headers }: ApiRequest,
  body: OAuthParameters,
): [id: string, secret: string | undefined] {
  const [, basic] = /^basic +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (basic === undefined) return [body.client_id ?? '', body.client_secret];
  const [id = '', ...secret] = Buffer.from(basic, 'base64').toString().split(':');
  return [id, secret.join(':')];
}

/** Throws errors other than protocol errors. Unwraps errors that the library wrapped. */
function throwUnlessOAuth(error: unknown): asserts error is OAuth2Server.OAuthError {
  if (error instanceof OAuth2Server.ServerError) throw memberOf(error, 'inner') ?? error;
  if (!(error instanceof OAuth2Server.OAuthError)) throw error;
}

/** Returns the response of RFC 6749, section 5.2. */
const refusal = ({ code, name, message }: OAuth2Server.OAuthError): Reply =>
  new Reply(
    name === 'invalid_client' ? 401 : code,
    { error: name, error_description: message },
    { ...NOT_CACHED, ...(name === 'invalid_client' ? { 'WWW-Authenticate': 'Basic' } : {}) },
  );
