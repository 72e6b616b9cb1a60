import { Injectable } from '@nestjs/common';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { RecoveryCode } from './second-factor.entity.js';

@Injectable()
export class RecoveryCodesRepository extends TableRepository<RecoveryCode> {
  constructor(@InjectRepository(RecoveryCode) repository: Repository<RecoveryCode>) {
    super(repository);
  }

  async replace(user: number, digests: readonly string[]): Promise<void> {
    await this.delete({ user_id: user });
    await this.insertMany(digests.map((digest) => ({ digest, user_id: user })));
  }

  /**
   * Deletes a code, so that it can be used only once.
   *
   * @returns false if the user does not have the code
   */
  async take(user: number, digest: string): Promise<boolean> {
    return this.database.affects(sql`
      DELETE FROM recovery_codes WHERE user_id = ${user} AND digest = ${digest}`);
  }
}
