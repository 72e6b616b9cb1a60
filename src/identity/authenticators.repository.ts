import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { InjectRepository, TableRepository, type Repository } from '../database/repository.js';
import { sql } from '../database/sql.js';
import { Authenticator } from './authenticator.entity.js';

/** Authenticator as the login page shows it. */
export interface LoginOption {
  name: string;
  slug: string;
}

@Injectable()
export class AuthenticatorsRepository extends TableRepository<RowOf<Authenticator>> {
  constructor(@InjectRepository(Authenticator) repository: Repository<Authenticator>) {
    super(repository);
  }

  /** Returns the enabled authenticators in the order of the login page. */
  enabled(): Promise<LoginOption[]> {
    return this.database.rows<LoginOption & Record<string, unknown>>(sql`
      SELECT name, slug FROM authenticators WHERE enabled ORDER BY "order", id`);
  }

  /** Returns an enabled authenticator. */
  enabledBySlug(slug: string): Promise<RowOf<Authenticator> | undefined> {
    return this.database.row<RowOf<Authenticator>>(sql`
      SELECT * FROM authenticators WHERE slug = ${slug} AND enabled`);
  }

  /** Makes the first logins of new users with one authenticator wait for each other. */
  async lockFirstLogins(id: number): Promise<void> {
    await this.database.row(sql`
      SELECT id FROM authenticators WHERE id = ${id} FOR NO KEY UPDATE`);
  }
}
