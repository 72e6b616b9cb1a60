import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { InjectRepository, TableRepository, type Repository } from '../database/repository.js';
import { sql, type Sql } from '../database/sql.js';
import {
  Authenticator,
  type AnyAuthenticator,
  type AuthenticatorOf,
} from './authenticator.entity.js';

/** Authenticator for a link on the login page. */
export interface LoginOption {
  id: number;
  name: string;
  slug: string;
}

/** Returns a query that has one row if the authenticator is enabled. */
export const enabledAuthenticator = (id: number): Sql => sql`
  SELECT 1 FROM authenticators WHERE id = ${id} AND enabled`;

@Injectable()
export class AuthenticatorsRepository extends TableRepository<RowOf<Authenticator>> {
  constructor(@InjectRepository(Authenticator) repository: Repository<Authenticator>) {
    super(repository);
  }

  /** Returns the enabled authenticators except directories, in the order of the login page. */
  enabled(): Promise<LoginOption[]> {
    return this.database.rows<LoginOption & Record<string, unknown>>(sql`
      SELECT id, name, slug FROM authenticators WHERE enabled AND kind <> 'ldap' ORDER BY "order", id`);
  }

  /** Returns the enabled directories, in the order in which they verify passwords. */
  directories(): Promise<AuthenticatorOf<'ldap'>[]> {
    return this.database.rows<AuthenticatorOf<'ldap'> & Record<string, unknown>>(sql`
      SELECT * FROM authenticators WHERE enabled AND kind = 'ldap' ORDER BY "order", id`);
  }

  /** Claims a directory whose synchronization is due; returns undefined if none is due. */
  claimDue(): Promise<AuthenticatorOf<'ldap'> | undefined> {
    return this.database.row<AuthenticatorOf<'ldap'> & Record<string, unknown>>(sql`
      UPDATE authenticators SET synced_at = now() WHERE id IN (
        SELECT id FROM authenticators
        WHERE enabled AND kind = 'ldap' AND (configuration ->> 'sync_minutes')::int > 0
          AND (synced_at IS NULL OR synced_at
            < now() - make_interval(mins => (configuration ->> 'sync_minutes')::int))
        ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
      RETURNING *`);
  }

  enabledBySlug(slug: string): Promise<AnyAuthenticator | undefined> {
    return this.database.row<AnyAuthenticator & Record<string, unknown>>(sql`
      SELECT * FROM authenticators WHERE slug = ${slug} AND enabled`);
  }

  /** Returns the ids of the enabled authenticators, and locks them until the transaction ends. */
  lockEnabled(): Promise<number[]> {
    return this.database.ids(sql`
      SELECT id FROM authenticators WHERE enabled ORDER BY id FOR SHARE`);
  }

  /** Locks an authenticator, so that concurrent first logins of its users run one after another. */
  async lockFirstLogins(id: number): Promise<void> {
    await this.database.row(sql`
      SELECT id FROM authenticators WHERE id = ${id} FOR NO KEY UPDATE`);
  }
}
