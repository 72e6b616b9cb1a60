import { Injectable } from '@nestjs/common';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { TotpSecret } from './second-factor.entity.js';

/** Number of consecutive wrong codes after which checks are delayed. */
const FAILURES_BEFORE_LOCK = 5;
const LONGEST_LOCK_SECONDS = 3600;

export type LockedSecret = Pick<TotpSecret, 'id' | 'secret' | 'step'> & {
  /** Seconds until the next code is checked. */
  wait: number;
};

@Injectable()
export class TotpSecretsRepository extends TableRepository<TotpSecret> {
  constructor(@InjectRepository(TotpSecret) repository: Repository<TotpSecret>) {
    super(repository);
  }

  /** Returns the secret of a user and locks it, so that codes are checked one after another. */
  locked(user: number): Promise<LockedSecret | undefined> {
    return this.database.row<LockedSecret>(sql`
      SELECT id, secret, step,
        greatest(0, ceil(extract(epoch FROM coalesce(locked_until, now()) - now())))::int AS wait
      FROM totp_secrets WHERE user_id = ${user} FOR UPDATE`);
  }

  /** Records an accepted code. */
  async accept(id: number, step: number): Promise<void> {
    await this.update({ id }, { step, failures: 0, locked_until: null });
  }

  /**
   * Counts a wrong code. From the fifth on, each wrong code doubles the delay: 1 minute to 1 hour.
   */
  async refuse(id: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE totp_secrets SET failures = failures + 1,
        locked_until = CASE WHEN failures + 1 >= ${FAILURES_BEFORE_LOCK}::int THEN now() + make_interval(
          secs => least(${LONGEST_LOCK_SECONDS}::float8,
            60 * 2.0 ^ least(failures + 1 - ${FAILURES_BEFORE_LOCK}::int, 10))) END
      WHERE id = ${id}`);
  }
}
