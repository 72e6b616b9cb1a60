import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { CredentialInputSource } from './credential-input-source.entity.js';
import { FETCHED } from './types/definition.js';

/** Secret store from which one input of a credential is looked up. */
export interface InputSource {
  id: number;
  target_id: number;
  field: string;
  metadata: Record<string, unknown>;
  source_id: number;
}

/** Returns the stored inputs of a credential as an SQL value, with a placeholder for looked-up inputs. */
export const markedInputs = (inputs: Sql, credential: Sql): Sql => sql`coalesce((
  SELECT (${inputs}::jsonb || jsonb_object_agg(input.input_field_name, ${FETCHED}::text))::json
  FROM credential_input_sources input WHERE input.target_credential_id = ${credential}
  HAVING count(*) > 0), ${inputs})`;

/** Returns the query for the input sources (`InputSource`) of credentials. */
export const inputSourcesOf = (targets: readonly number[]): Sql => sql`
  SELECT id, target_credential_id AS target_id, input_field_name AS field, metadata,
    source_credential_id AS source_id
  FROM credential_input_sources WHERE target_credential_id = ANY(${targets}::int[])
  ORDER BY target_credential_id, input_field_name`;

@Injectable()
export class CredentialInputSourcesRepository extends TableRepository<
  RowOf<CredentialInputSource>
> {
  constructor(
    @InjectRepository(CredentialInputSource) repository: Repository<CredentialInputSource>,
  ) {
    super(repository);
  }

  ofTargets(targets: readonly number[]): Promise<InputSource[]> {
    return this.database.preparedRows<InputSource & Record<string, unknown>>(
      inputSourcesOf(targets),
    );
  }

  /**
   * Copies the input sources of a credential to its copy.
   *
   * @param sources credentials of the stores that the copy can use
   */
  async copy(
    original: number,
    copy: number,
    sources: readonly number[],
    author: number,
  ): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO credential_input_sources (description, input_field_name, metadata,
        target_credential_id, source_credential_id, created_by_id, modified_by_id)
      SELECT description, input_field_name, metadata, ${copy}, source_credential_id, ${author},
        ${author}
      FROM credential_input_sources
      WHERE target_credential_id = ${original} AND source_credential_id = ANY(${sources}::int[])`);
  }
}
