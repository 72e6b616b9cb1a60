import { Injectable } from '@nestjs/common';
import { InjectRepository, TableRepository, type Repository } from '../database/repository.js';
import { sql } from '../database/sql.js';
import { SamlResponse } from './saml-response.entity.js';

@Injectable()
export class SamlResponsesRepository extends TableRepository<SamlResponse> {
  constructor(@InjectRepository(SamlResponse) repository: Repository<SamlResponse>) {
    super(repository);
  }

  /**
   * Records the response to a request, and deletes expired responses.
   *
   * @param lifetimeSeconds maximum age of a response; the record is kept longer, because clocks can differ
   * @returns false if a response to the request was recorded earlier
   */
  async take(request: string, lifetimeSeconds: number): Promise<boolean> {
    await this.database.execute(sql`DELETE FROM saml_responses WHERE expires < now()`);
    return this.database.affects(sql`
      INSERT INTO saml_responses (request, expires)
      VALUES (${request}, now() + make_interval(secs => ${lifetimeSeconds} * 2))
      ON CONFLICT DO NOTHING`);
  }
}
