import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { TokenStore } from '../users/login-stores.js';
import { ACCOUNT, accounts, type Account } from '../users/users.repository.js';
import { Token, type RefreshToken } from './token.entity.js';

/** Maximum number of tokens in the summary of an application. */
const MAX_SHOWN = 10;

/** User and scope of a token. `stale` is true if the last recorded use is older than a minute. */
export interface TokenUse extends Account {
  scope: string;
  /** Application that acts with the token; null: a personal token. */
  application_id: number | null;
  stale: boolean;
}

export interface NewToken {
  description: string;
  scope: string;
  user: number;
  digest: string;
  lifetimeSeconds: number;
  /** Application and grant that the token belongs to. */
  application?: number;
  grant?: string;
}

export type NewRefreshToken = Required<
  Pick<NewToken, 'scope' | 'user' | 'digest' | 'lifetimeSeconds' | 'application' | 'grant'>
>;

export type StoredRefreshToken = Omit<RefreshToken, 'digest'>;

const selectUse = (digest: string): Sql => sql`
  SELECT ${ACCOUNT}, tok.scope, tok.application_id,
    (tok.last_used IS NULL OR tok.last_used < now() - interval '1 minute') AS stale
  FROM tokens tok JOIN (${accounts()}) usr ON usr.id = tok.user_id
  WHERE tok.digest = ${digest} AND (tok.expires IS NULL OR tok.expires > now())`;

/**
 * Users can see and end the access of an application only by its tokens, so an expired token is kept while
 * the application can refresh it.
 */
const CANNOT_BE_REFRESHED = sql`NOT EXISTS (
  SELECT 1 FROM refresh_tokens ref
  WHERE ref.grant_id = t.grant_id AND NOT ref.used AND ref.expires > now())`;

/** Tokens of an application in its summary. */
export interface TokensSummary {
  count: number;
  results: { id: number; scope: string; token: string }[];
}

@Injectable()
export class TokensRepository extends TableRepository<RowOf<Token>> implements TokenStore {
  constructor(@InjectRepository(Token) repository: Repository<Token>) {
    super(repository);
  }

  async endOthers(user: number, exceptDigest: string | null): Promise<void> {
    await this.database.execute(sql`
      DELETE FROM refresh_tokens WHERE user_id = ${user}
        AND grant_id IS DISTINCT FROM (SELECT grant_id FROM tokens WHERE digest = ${exceptDigest}::text)`);
    await this.database.execute(sql`
      DELETE FROM tokens WHERE user_id = ${user} AND digest IS DISTINCT FROM ${exceptDigest}::text`);
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
    return this.database.affects(sql`
      INSERT INTO tokens (description, scope, user_id, digest, expires)
      SELECT ${description}, ${scope}, usr.id, ${digest},
        now() + make_interval(secs => ${lifetimeSeconds})
      FROM (${accounts()}) usr WHERE usr.username = ${username}`);
  }

  /**
   * Returns the number of tokens that expired more than `days` days ago, without those that an
   * application can refresh.
   */
  countExpired(days: number): Promise<number> {
    return this.countOlder({ column: 'expires', days, condition: CANNOT_BE_REFRESHED });
  }

  /** Deletes up to `limit` of the tokens that `countExpired` counts. */
  removeExpired(days: number, limit: number): Promise<number> {
    return this.removeOlder({ column: 'expires', days, condition: CANNOT_BE_REFRESHED }, limit);
  }

  /** Returns the user and scope of an unexpired token. */
  use(digest: string): Promise<TokenUse | undefined> {
    return this.database.preparedRow<TokenUse>(selectUse(digest));
  }

  /**
   * Returns the user and scope of an unexpired token, and locks user and token until the transaction
   * ends. The user is locked first.
   */
  lockUse(digest: string): Promise<TokenUse | undefined> {
    return this.database.preparedRow<TokenUse>(
      sql`${selectUse(digest)} FOR SHARE OF usr FOR SHARE OF tok`,
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

  async add(token: NewToken): Promise<RowOf<Token>> {
    return this.database.rowOrFail<RowOf<Token>>(sql`
      INSERT INTO tokens (description, scope, user_id, digest, expires, application_id, grant_id)
      VALUES (${token.description}, ${token.scope}, ${token.user}, ${token.digest},
        now() + make_interval(secs => ${token.lifetimeSeconds}), ${token.application ?? null},
        ${token.grant ?? null})
      RETURNING *`);
  }

  /** Adds a refresh token, and deletes expired ones. */
  async addRefresh(token: NewRefreshToken): Promise<void> {
    await this.database.execute(sql`DELETE FROM refresh_tokens WHERE expires < now()`);
    await this.database.execute(sql`
      INSERT INTO refresh_tokens (digest, application_id, user_id, scope, grant_id, expires)
      VALUES (${token.digest}, ${token.application}, ${token.user}, ${token.scope}, ${token.grant},
        now() + make_interval(secs => ${token.lifetimeSeconds}))`);
  }

  /** Returns a refresh token of a user who can log in. */
  refresh(digest: string): Promise<StoredRefreshToken | undefined> {
    return this.database.row<StoredRefreshToken>(sql`
      SELECT application_id, user_id, scope, grant_id, expires, used FROM refresh_tokens
      WHERE digest = ${digest} AND user_id IN (SELECT id FROM (${accounts()}) usr)`);
  }

  /**
   * Marks a refresh token as used.
   *
   * @param scope scope of the next token
   * @returns false if the token was used before, or its scope was reduced meanwhile
   */
  async takeRefresh(digest: string, scope: string): Promise<boolean> {
    return this.database.affects(sql`
      UPDATE refresh_tokens SET used = true
      WHERE digest = ${digest} AND NOT used
        AND string_to_array(scope, ' ') @> string_to_array(${scope}, ' ')`);
  }

  /**
   * Replaces the access token of a grant. The row stays the same, because users end the grant by its id.
   *
   * @returns undefined if the grant has no access token
   */
  renew(token: NewRefreshToken): Promise<RowOf<Token> | undefined> {
    return this.database.row<RowOf<Token>>(sql`
      UPDATE tokens SET digest = ${token.digest}, scope = ${token.scope}, last_used = NULL,
        modified = now(), expires = now() + make_interval(secs => ${token.lifetimeSeconds})
      WHERE grant_id = ${token.grant} RETURNING *`);
  }

  /**
   * Deletes all tokens of a grant, after a refresh in progress, whose new tokens must end too.
   *
   * @returns the deleted access tokens
   */
  async endGrant(grant: string): Promise<RowOf<Token>[]> {
    await this.database.execute(sql`
      SELECT 1 FROM refresh_tokens WHERE grant_id = ${grant} FOR UPDATE`);
    await this.database.execute(sql`DELETE FROM refresh_tokens WHERE grant_id = ${grant}`);
    return this.database.rows<RowOf<Token>>(sql`
      DELETE FROM tokens WHERE grant_id = ${grant} RETURNING *`);
  }

  /** Returns the number of tokens and the oldest tokens of each application. */
  async ofApplications(ids: readonly number[]): Promise<Map<number, TokensSummary>> {
    const rows = await this.database.rows<TokensSummary & { id: number }>(sql`
      SELECT application_id AS id, count(*)::int AS count,
        coalesce(json_agg(json_build_object('id', id, 'scope', scope, 'token', '************')
          ORDER BY id) FILTER (WHERE place <= ${MAX_SHOWN}), '[]') AS results
      FROM (SELECT id, scope, application_id,
              row_number() OVER (PARTITION BY application_id ORDER BY id) AS place
            FROM tokens WHERE application_id = ANY(${ids}::int[])) tok
      GROUP BY application_id`);
    return new Map(rows.map(({ id, count, results }) => [id, { count, results }]));
  }

  /** Changes the scope of the refresh token of the grant that an access token belongs to. */
  async setRefreshScope(id: number, scope: string): Promise<void> {
    await this.database.execute(sql`
      UPDATE refresh_tokens SET scope = ${scope}
      WHERE grant_id = (SELECT grant_id FROM tokens WHERE id = ${id}) AND NOT used`);
  }

  /** Deletes the refresh tokens of the grant that an access token belongs to. */
  async endRefreshOf(id: number): Promise<void> {
    await this.database.execute(sql`
      DELETE FROM refresh_tokens WHERE grant_id = (SELECT grant_id FROM tokens WHERE id = ${id})`);
  }

  /** Returns the grant of an access or refresh token of an application. */
  async grantOf(digest: string, application: number): Promise<string | null> {
    const row = await this.database.row<{ grant_id: string }>(sql`
      SELECT grant_id FROM tokens WHERE digest = ${digest} AND application_id = ${application}
      UNION ALL SELECT grant_id FROM refresh_tokens
      WHERE digest = ${digest} AND application_id = ${application}`);
    return row?.grant_id ?? null;
  }
}
