import { Injectable } from '@nestjs/common';
import type { ExternalFlagStore, SystemFlag } from '../access/user-store.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { InjectRepository, TableRepository, type Repository } from '../database/repository.js';
import { sql, type Sql } from '../database/sql.js';
import { ACCOUNT, accounts, externalAccounts, type Account } from '../users/users.repository.js';
import { ExternalIdentity } from './authenticator.entity.js';
import { enabledAuthenticator } from './authenticators.repository.js';

/**
 * Returns the query for the ids of the users of an authenticator.
 *
 * @param authenticator id of the authenticator
 */
export const identifiedUsers = (authenticator: Sql): Sql => sql`
  SELECT ext.user_id FROM external_identities ext WHERE ext.authenticator_id = ${authenticator}`;

/** Account of a directory that created the user, who has no local password. */
export interface DirectoryAccount {
  subject: string;
  user_id: number;
  is_disabled: boolean;
}

@Injectable()
export class ExternalIdentitiesRepository
  extends TableRepository<RowOf<ExternalIdentity>>
  implements ExternalFlagStore
{
  constructor(@InjectRepository(ExternalIdentity) repository: Repository<ExternalIdentity>) {
    super(repository);
  }

  /**
   * Returns an identity and locks it, so that concurrent logins of the account run one after
   * another.
   */
  locked(authenticator: number, subject: string): Promise<RowOf<ExternalIdentity> | undefined> {
    return this.database.row<RowOf<ExternalIdentity>>(sql`
      SELECT * FROM external_identities
      WHERE authenticator_id = ${authenticator} AND subject = ${subject} FOR NO KEY UPDATE`);
  }

  /** Returns the account of a user who has an identity of the authenticator, if it is enabled. */
  account(authenticator: number, user: number): Promise<Account | undefined> {
    return this.database.preparedRow<Account & Record<string, unknown>>(sql`
      SELECT ${ACCOUNT}
      FROM (${accounts()}) usr
      WHERE usr.id = ${user} AND usr.id IN (${identifiedUsers(sql`${authenticator}`)})
        AND EXISTS (${enabledAuthenticator(authenticator)})`);
  }

  /**
   * Returns the accounts of the users that a directory created, except users with a local password.
   */
  directoryAccounts(authenticator: number): Promise<DirectoryAccount[]> {
    return this.database.rows<DirectoryAccount & Record<string, unknown>>(sql`
      SELECT ext.subject, ext.user_id, usr.is_disabled
      FROM external_identities ext
      JOIN authenticators auth ON auth.id = ext.authenticator_id
      JOIN (${externalAccounts()}) usr ON usr.id = ext.user_id AND usr.external_account = auth.slug
      WHERE ext.authenticator_id = ${authenticator} ORDER BY ext.id`);
  }

  async keepFlag(user: number, flag: SystemFlag): Promise<void> {
    await this.update({ user_id: user, [flag]: true }, { [flag]: false });
  }

  /** Returns the ids of the authenticators in which a user has an account. */
  async authenticatorsOf(user: number): Promise<number[]> {
    const found = await this.find({ where: { user_id: user }, select: { authenticator_id: true } });
    return found.map(({ authenticator_id: id }) => id);
  }
}
