import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { issueToken } from '../common/crypto/tokens.js';
import { existing } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import type { Representation } from '../common/resource/represent.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { TokenSchema } from './token.schema.js';
import { tokens } from './tokens.resource.js';

/** Makes personal access tokens (docs/contract/access.md#tokens). */
@Injectable()
export class TokensService {
  constructor(
    private readonly database: Database,
    private readonly resources: ResourceService,
    private readonly activity: ActivityRecorder,
    private readonly settings: Settings,
  ) {}

  /**
   * Makes a token for a user; the route has asked who may. The answer is the only place where the
   * clear text ever appears; the digest is stored.
   */
  async create(
    { description, scope }: TokenSchema,
    user: Pick<Row, 'id'>,
    actor: Actor,
  ): Promise<Representation> {
    const { token, digest } = issueToken();
    const row = await this.database.transaction(async () => {
      const made = existing(
        await this.database.row<Row>(sql`
        INSERT INTO tokens (description, scope, user_id, digest, expires)
        VALUES (${description}, ${scope}, ${user.id}, ${digest},
          now() + make_interval(secs => ${this.settings.TOKEN_EXPIRY}))
        RETURNING *`),
        'an INSERT returns its row',
      );
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
