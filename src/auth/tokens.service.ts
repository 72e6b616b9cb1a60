import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { issueToken } from '../common/crypto/tokens.js';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import { Forbidden } from '../common/errors/errors.js';
import { currentScope } from '../common/http/request-scope.js';
import { rowChanges } from '../common/rest/changes.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { ResourceService } from '../common/rest/resource.service.js';
import type { Representation } from '../common/resource/representation.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import type { Token } from './token.entity.js';
import { TokensRepository, type NewRefreshToken } from './tokens.repository.js';
import { MASKED_TOKEN, tokens } from './tokens.resource.js';

/** Permission for an application to act in the name of a user. */
export interface Grant {
  id: string;
  application: number;
  user: number;
  scope: string;
}

/** Access and refresh token of an application, in clear text. */
export interface TokenPair {
  row: RowOf<Token>;
  token: string;
  refreshToken: string;
}

/** Creates access tokens (docs/contract/access.md#tokens). */
@Injectable()
export class TokensService {
  constructor(
    private readonly database: Database,
    private readonly stored: TokensRepository,
    private readonly resources: ResourceService,
    private readonly references: ReferencesService,
    private readonly activity: ActivityRecorder,
    private readonly settings: Settings,
  ) {}

  /**
   * Creates a token for a user. The route has verified the permission. Only the response contains
   * the token in clear text; its digest is stored. A token of an application has a refresh token.
   *
   * @throws Invalid if there is no such application, Forbidden if the caller cannot read the
   *   application. Also Forbidden if the caller is an application, whose new token could outlive
   *   its grant
   */
  async create(
    { description, scope, application }: Token,
    user: Pick<Row, 'id'>,
    actor: Actor,
  ): Promise<Representation> {
    if (currentScope()?.isApplication) throw new Forbidden('An application cannot create tokens.');
    if (typeof application === 'number') {
      const { row, token, refreshToken } = await this.database.transaction(async () => {
        await this.references.assertExist(tokens, { application });
        await this.references.assertUsable(tokens, { application }, actor);
        const grant = { id: randomUUID(), application, user: user.id, scope };
        return this.addPair(grant, description);
      });
      const shown = await this.resources.show(tokens, row, actor);
      return { ...shown, token, refresh_token: refreshToken };
    }
    const { token, digest } = issueToken();
    const lifetimeSeconds = this.settings.TOKEN_EXPIRY;
    const row = await this.database.transaction(() =>
      this.add({ description, scope, digest, user: user.id, lifetimeSeconds }),
    );
    return { ...(await this.resources.show(tokens, row, actor)), token };
  }

  /** Creates the tokens of a grant, or replaces its earlier tokens, in the caller's transaction. */
  async addPair({ id: grant, ...fields }: Grant, description = ''): Promise<TokenPair> {
    const { token, digest } = issueToken();
    const refresh = issueToken('acr');
    const lifetimeSeconds = this.settings.OAUTH2_ACCESS_TOKEN_AGE;
    const access = { ...fields, digest, grant, lifetimeSeconds };
    const row = (await this.renew(access)) ?? (await this.add({ ...access, description }));
    await this.stored.addRefresh({
      ...fields,
      digest: refresh.digest,
      grant,
      lifetimeSeconds: this.settings.OAUTH2_REFRESH_TOKEN_AGE,
    });
    return { row, token, refreshToken: refresh.token };
  }

  /** Ends the access of an application: deletes the tokens of a grant. */
  endGrant(grant: string): Promise<void> {
    return this.database.transaction(async () => {
      for (const row of await this.stored.endGrant(grant)) {
        const changes = rowChanges(tokens, row);
        this.activity.record({ operation: 'delete', object1: refOf(tokens, row), changes });
      }
    });
  }

  private async renew(token: NewRefreshToken): Promise<RowOf<Token> | undefined> {
    const row = await this.stored.renew(token);
    if (row) this.activity.recordUpdate(tokens, row, { token: [MASKED_TOKEN, MASKED_TOKEN] });
    return row;
  }

  private async add(token: Parameters<TokensRepository['add']>[0]): Promise<RowOf<Token>> {
    const { user, scope, description, application } = token;
    const row = await this.stored.add(token);
    this.activity.record({
      operation: 'create',
      object1: { ...refOf(tokens, row), name: description },
      changes: {
        id: row.id,
        scope,
        user,
        token: MASKED_TOKEN,
        ...(application === undefined ? {} : { application }),
      },
    });
    return row;
  }
}
