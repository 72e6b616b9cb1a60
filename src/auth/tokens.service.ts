import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { issueToken } from '../common/crypto/tokens.js';
import type { Row } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import type { Representation } from '../common/resource/represent.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import type { Token } from './token.entity.js';
import { TokensRepository } from './tokens.repository.js';
import { tokens } from './tokens.resource.js';

/** Creates personal access tokens (docs/contract/access.md#tokens). */
@Injectable()
export class TokensService {
  constructor(
    private readonly database: Database,
    private readonly stored: TokensRepository,
    private readonly resources: ResourceService,
    private readonly activity: ActivityRecorder,
    private readonly settings: Settings,
  ) {}

  /**
   * Creates a token for a user; the route has verified the permission. Only the response contains the
   * token in clear text; its digest is stored.
   */
  async create(
    { description, scope }: Token,
    user: Pick<Row, 'id'>,
    actor: Actor,
  ): Promise<Representation> {
    const { token, digest } = issueToken();
    const row = await this.database.transaction(async () => {
      const made = await this.stored.add({
        description,
        scope,
        digest,
        user: user.id,
        lifetimeSeconds: this.settings.TOKEN_EXPIRY,
      });
      this.activity.record({
        operation: 'create',
        object1: { ...refOf(tokens, made), name: description },
        changes: { id: made.id, scope, user: user.id, token: '************' },
      });
      return made;
    });
    return { ...(await this.resources.show(tokens, row, actor)), token };
  }
}
