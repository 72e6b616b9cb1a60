import { Injectable } from '@nestjs/common';
import { existing } from '../common/invariants.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { TokenStore } from '../users/token-store.js';
import { accounts, type Account } from '../users/users.repository.js';
import { Token } from './token.entity.js';

/** User and scope of a token. `stale` is true if the last recorded use is older than a minute. */
export interface TokenUse extends Account {
  scope: string;
  stale: boolean;
}

export interface NewToken {
  description: string;
  scope: string;
  user: number;
  digest: string;
  lifetimeSeconds: number;
}

const useOf = (digest: string): Sql => sql`
  SELECT usr.id, usr.username, usr.is_superuser, usr.is_system_auditor, tok.scope,
    (tok.last_used IS NULL OR tok.last_used < now() - interval '1 minute') AS stale
  FROM tokens tok JOIN (${accounts()}) usr ON usr.id = tok.user_id
  WHERE tok.digest = ${digest} AND (tok.expires IS NULL OR tok.expires > now())`;

@Injectable()
export class TokensRepository extends TableRepository<RowOf<Token>> implements TokenStore {
  constructor(@InjectRepository(Token) repository: Repository<Token>) {
    super(repository);
  }

  async endOthers(user: number, kept: string | null): Promise<void> {
    await this.database.execute(sql`
      DELETE FROM tokens WHERE user_id = ${user} AND digest IS DISTINCT FROM ${kept}::text`);
  }

  /**
   * Creates a token for a user by name.
   *
   * @returns false if there is no such user
   */
  async addByName(
    username: string,
    { description, scope, digest, lifetimeSeconds }: Omit<NewToken, 'user'>,
  ): Promise<boolean> {
    const added = await this.database.execute(sql`
      INSERT INTO tokens (description, scope, user_id, digest, expires)
      SELECT ${description}, ${scope}, usr.id, ${digest},
        now() + make_interval(secs => ${lifetimeSeconds})
      FROM (${accounts()}) usr WHERE usr.username = ${username}`);
    return added > 0;
  }

  /** Returns the number of tokens that expired more than `days` days ago. */
  countExpired(days: number): Promise<number> {
    return this.countOlder({ column: 'expires', days });
  }

  /** Deletes up to `most` tokens that expired more than `days` days ago. */
  removeExpired(days: number, most: number): Promise<number> {
    return this.removeOlder({ column: 'expires', days }, most);
  }

  /** Returns the user and scope of an unexpired token. */
  use(digest: string): Promise<TokenUse | undefined> {
    return this.database.preparedRow<TokenUse>(useOf(digest));
  }

  /**
   * Returns the user and scope of an unexpired token, and locks user and token until the transaction
   * ends. The user is locked first.
   */
  lockUse(digest: string): Promise<TokenUse | undefined> {
    return this.database.preparedRow<TokenUse>(
      sql`${useOf(digest)} FOR SHARE OF usr FOR SHARE OF tok`,
    );
  }

  /**
   * Records a use, unless another request holds a lock on the token: the next request records it then.
   */
  async touch(digest: string): Promise<void> {
    await this.database.execute(sql`
      UPDATE tokens SET last_used = now() WHERE id IN (
        SELECT id FROM tokens WHERE digest = ${digest} FOR NO KEY UPDATE SKIP LOCKED)`);
  }

  async add({
    description,
    scope,
    user,
    digest,
    lifetimeSeconds,
  }: NewToken): Promise<RowOf<Token>> {
    const row = await this.database.row<RowOf<Token>>(sql`
      INSERT INTO tokens (description, scope, user_id, digest, expires)
      VALUES (${description}, ${scope}, ${user}, ${digest},
        now() + make_interval(secs => ${lifetimeSeconds}))
      RETURNING *`);
    return existing(row, 'an INSERT returns its row');
  }
}
