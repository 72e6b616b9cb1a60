import { Injectable } from '@nestjs/common';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { Passkey } from './second-factor.entity.js';

interface VerifiedUse {
  id: number;
  /** Counter of the authenticator; 0 if it does not count. */
  counter: number;
  /** Instant of the challenge, in milliseconds. */
  issued: number;
}

@Injectable()
export class PasskeysRepository extends TableRepository<Passkey> {
  constructor(@InjectRepository(Passkey) repository: Repository<Passkey>) {
    super(repository);
  }

  /** Returns the passkeys of a user, oldest first. */
  ofUser(user: number): Promise<Passkey[]> {
    return this.find({ where: { user_id: user }, order: { id: 'ASC' } });
  }

  /**
   * Records a use. Rejects challenges that are not newer than the last use.
   *
   * @returns false for a challenge or a counter that was used before
   */
  async use({ id, counter, issued }: VerifiedUse): Promise<boolean> {
    return this.database.affects(sql`
      UPDATE passkeys SET counter = ${counter}, last_used = clock_timestamp()
      WHERE id = ${id} AND (counter = 0 OR counter < ${counter}::float8)
        AND (last_used IS NULL OR last_used < to_timestamp(${issued}::float8 / 1000))`);
  }
}
