import { Injectable } from '@nestjs/common';
import { accounts } from '../users/users.repository.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { InjectRepository, TableRepository, type Repository } from '../database/repository.js';
import { sql } from '../database/sql.js';
import { Application, type AuthorizationCode } from './application.entity.js';

export type StoredCode = Omit<AuthorizationCode, 'digest'>;

@Injectable()
export class ApplicationsRepository extends TableRepository<RowOf<Application>> {
  constructor(@InjectRepository(Application) repository: Repository<Application>) {
    super(repository);
  }

  byClientId(clientId: string): Promise<RowOf<Application> | undefined> {
    return this.database.row<RowOf<Application>>(
      sql`SELECT * FROM applications WHERE client_id = ${clientId}`,
    );
  }

  /** Stores a code, and deletes those that expired over an hour ago. */
  async addCode(
    code: Omit<AuthorizationCode, 'used' | 'expires' | 'generation'>,
    seconds: number,
  ): Promise<void> {
    await this.database.execute(
      sql`DELETE FROM authorization_codes WHERE expires < now() - interval '1 hour'`,
    );
    await this.database.execute(sql`
      INSERT INTO authorization_codes
        (digest, application_id, user_id, redirect_uri, scope, code_challenge, grant_id, generation,
          expires)
      SELECT ${code.digest}, ${code.application_id}, usr.id, ${code.redirect_uri}, ${code.scope},
        ${code.code_challenge}, ${code.grant_id}, usr.session_generation,
        now() + make_interval(secs => ${seconds})
      FROM (${accounts()}) usr WHERE usr.id = ${code.user_id}`);
  }

  /** Returns a code of a user who can log in. */
  code(digest: string): Promise<StoredCode | undefined> {
    return this.database.row<StoredCode>(sql`
      SELECT application_id, user_id, redirect_uri, scope, code_challenge, grant_id, generation, expires,
        used
      FROM authorization_codes
      WHERE digest = ${digest} AND user_id IN (SELECT id FROM (${accounts()}) usr)`);
  }

  /** @returns false if the code was used before */
  async takeCode(digest: string): Promise<boolean> {
    return this.database.affects(
      sql`UPDATE authorization_codes SET used = true WHERE digest = ${digest} AND NOT used`,
    );
  }
}
