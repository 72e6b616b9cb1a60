import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import OAuth2Server, {
  type AuthorizationCode,
  type AuthorizationCodeModel,
  type Client,
  type Falsey,
  type PasswordModel,
  type RefreshToken,
  type RefreshTokenModel,
  type Token,
  type User,
} from '@node-oauth/oauth2-server';
import { AuthenticationService } from '../auth/authentication.service.js';
import { TokensRepository } from '../auth/tokens.repository.js';
import { TokensService } from '../auth/tokens.service.js';
import { tokenDigest } from '../common/crypto/tokens.js';
import { Unauthenticated } from '../common/errors/errors.js';
import { currentScope } from '../common/http/request-scope.js';
import { Database } from '../database/database.js';
import { UsersRepository } from '../users/users.repository.js';
import { ApplicationsRepository } from './applications.repository.js';
import { redirectUrisOf } from './redirect-uris.js';

/** Lifetime of an authorization code, in seconds. */
export const CODE_LIFETIME = 60;
export const SCOPES: readonly string[] = ['read', 'write'];
export const DEFAULT_SCOPE = ['write'];

/** The user of a grant, as the library passes it from one method to the next. */
export interface GrantUser {
  id: number;
  grant: string;
  /** Generation of the user's sessions at the consent or the check of the password. */
  generation?: number;
  /** True if the authorization request contains a redirect URI, which the exchange must then repeat. */
  hasRedirectUri?: boolean;
  /** Digest of the code of the request, if it contains one. */
  codeDigest?: string;
  /** Digest of the refresh token of the request, if it contains one. */
  refreshDigest?: string;
}

type NewCode = Pick<
  AuthorizationCode,
  'authorizationCode' | 'expiresAt' | 'redirectUri' | 'scope' | 'codeChallenge'
>;

/** Storage of the OAuth 2 library: finds and stores clients, codes and tokens. */
@Injectable()
export class OAuthModel implements AuthorizationCodeModel, RefreshTokenModel, PasswordModel {
  constructor(
    private readonly database: Database,
    private readonly applications: ApplicationsRepository,
    private readonly tokens: TokensRepository,
    private readonly issuer: TokensService,
    private readonly authentication: AuthenticationService,
    private readonly users: UsersRepository,
  ) {}

  /**
   * @param secret null: do not authenticate the client; undefined: the client sent no secret,
   *   which only public clients may do
   */
  async getClient(id: string, secret: string | null | undefined): Promise<Client | Falsey> {
    const application = await this.applications.byClientId(id);
    if (!application) return false;
    const isPublic = application.client_type === 'public';
    const isAuthentic = isPublic || tokenDigest(secret ?? '') === application.secret_digest;
    if (secret !== null && !isAuthentic) return false;
    const isCode = application.authorization_grant_type === 'authorization-code';
    return {
      id: String(application.id),
      isPublic,
      redirectUris: redirectUrisOf(application.redirect_uris).uris,
      grants: [isCode ? 'authorization_code' : 'password', 'refresh_token'],
    };
  }

  async validateScope(
    _user: User,
    _client: Client,
    scope: string[] = DEFAULT_SCOPE,
  ): Promise<string[] | Falsey> {
    return scope.every((name) => SCOPES.includes(name)) && [...new Set(scope)].sort();
  }

  /** @throws InvalidRequestError for a public client without a code challenge (RFC 9700, section 2.1.1) */
  async saveAuthorizationCode(
    code: NewCode,
    client: Client,
    user: GrantUser,
  ): Promise<AuthorizationCode> {
    const challenge = code.codeChallenge ?? null;
    if (client.isPublic === true && challenge === null) {
      throw new OAuth2Server.InvalidRequestError(
        'Missing parameter: `code_challenge`, which public applications need',
      );
    }
    const { id, grant, hasRedirectUri = true } = user;
    const stored = {
      digest: tokenDigest(code.authorizationCode),
      application_id: Number(client.id),
      user_id: id,
      redirect_uri: hasRedirectUri ? code.redirectUri : '',
      scope: (code.scope ?? DEFAULT_SCOPE).join(' '),
      code_challenge: challenge,
      grant_id: grant,
    };
    await this.database.transaction(() => this.applications.addCode(stored, CODE_LIFETIME));
    return { ...code, client, user };
  }

  async getAuthorizationCode(text: string): Promise<AuthorizationCode | Falsey> {
    const codeDigest = tokenDigest(text);
    const code = await this.applications.code(codeDigest);
    if (!code) return false;
    if (code.used) return this.endStolen(code.grant_id);
    const challenge = code.code_challenge;
    const { user, ...granted } = grantOf(code);
    return {
      ...granted,
      user: { ...user, codeDigest, generation: code.generation },
      authorizationCode: text,
      expiresAt: new Date(code.expires),
      redirectUri: code.redirect_uri,
      ...(challenge === null ? {} : { codeChallenge: challenge, codeChallengeMethod: 'S256' }),
    };
  }

  /** Does nothing: `saveToken` takes the code in the transaction that creates the tokens. */
  async revokeAuthorizationCode(): Promise<boolean> {
    return true;
  }

  async getRefreshToken(text: string): Promise<RefreshToken | Falsey> {
    const refreshDigest = tokenDigest(text);
    const token = await this.tokens.refresh(refreshDigest);
    if (!token) return false;
    if (token.used) return this.endStolen(token.grant_id);
    const { user, ...granted } = grantOf(token);
    return {
      ...granted,
      user: { ...user, refreshDigest },
      refreshToken: text,
      refreshTokenExpiresAt: new Date(token.expires),
    };
  }

  /** Does nothing: `saveToken` takes the refresh token in the transaction that creates the next one. */
  async revokeToken(): Promise<boolean> {
    return true;
  }

  async getUser(username: string, password: string): Promise<GrantUser | Falsey> {
    const address = currentScope()?.sourceIp ?? '';
    try {
      const account = await this.authentication.accountByPassword(username, password, address);
      await this.authentication.logIn(account);
      return { id: account.id, grant: randomUUID(), generation: account.session_generation };
    } catch (error) {
      if (error instanceof Unauthenticated) return false;
      throw error;
    }
  }

  /** @throws InvalidGrantError if the grant ended, or its code or refresh token was used, in the meantime */
  async saveToken(token: Token, client: Client, user: GrantUser): Promise<Token> {
    const { id, grant, generation, codeDigest, refreshDigest } = user;
    const scope = (token.scope ?? DEFAULT_SCOPE).join(' ');
    const issued = await this.database.transaction(async () => {
      // A change of the password, which ends the tokens, waits for the lock and so ends the new ones too.
      const account = await this.users.lockAccount(id);
      if (!account) return null;
      const hasEnded = generation !== undefined && generation !== account.session_generation;
      if (hasEnded) return null;
      if (codeDigest !== undefined && !(await this.applications.takeCode(codeDigest))) return null;
      const isTaken =
        refreshDigest === undefined || (await this.tokens.takeRefresh(refreshDigest, scope));
      if (!isTaken) return null;
      return this.issuer.addPair({ id: grant, application: Number(client.id), user: id, scope });
    });
    if (!issued) {
      const code = codeDigest !== undefined && (await this.applications.code(codeDigest));
      const refresh = refreshDigest !== undefined && (await this.tokens.refresh(refreshDigest));
      if ((code && code.used) || (refresh && refresh.used)) await this.endStolen(grant);
      throw new OAuth2Server.InvalidGrantError('Invalid grant: the grant has ended');
    }
    return { ...token, accessToken: issued.token, refreshToken: issued.refreshToken, client, user };
  }

  /** Requests with tokens are authenticated by `AuthenticationService`. */
  async getAccessToken(): Promise<Falsey> {
    return false;
  }

  /** Ends a grant whose code or refresh token was used twice, which indicates theft. */
  private async endStolen(grant: string): Promise<false> {
    await this.issuer.endGrant(grant);
    return false;
  }
}

const grantOf = (stored: {
  application_id: number;
  user_id: number;
  grant_id: string;
  scope: string;
}): { client: Client; user: GrantUser; scope: string[] } => ({
  client: { id: String(stored.application_id), grants: [] },
  user: { id: stored.user_id, grant: stored.grant_id },
  scope: stored.scope.split(' '),
});
