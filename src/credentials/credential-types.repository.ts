import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { CredentialType } from './credential-type.entity.js';
import type { CredentialTypeDefinition } from './types/definition.js';
import { MANAGED_CREDENTIAL_TYPES } from './types/managed-types.js';

export interface CredentialTypeRow extends CredentialTypeDefinition {
  id: number;
}

/** Returns the query for all credential types: their definitions and `id`. */
export const selectCredentialTypes = (): Sql =>
  sql`SELECT id, name, kind, namespace, managed, inputs, injectors FROM credential_types`;

@Injectable()
export class CredentialTypesRepository extends TableRepository<RowOf<CredentialType>> {
  constructor(@InjectRepository(CredentialType) repository: Repository<CredentialType>) {
    super(repository);
  }

  /** @throws Error if the id is not a credential type's */
  async referenced(id: unknown): Promise<CredentialTypeRow> {
    return this.database.rowOrFail<CredentialTypeRow>(
      sql`${selectCredentialTypes()} WHERE id = ${id}`,
    );
  }

  /**
   * Synchronizes the shipped credential types with this version: adds missing types, and updates
   * changed types without changing their ids. Renames a custom type with the name of a shipped
   * type, so that its credentials keep their type. Idempotent.
   */
  async syncManaged(): Promise<void> {
    await this.database.execute(sql`
      UPDATE credential_types typ SET name = format('%s (custom %s)', typ.name, typ.id), modified = now()
      FROM json_to_recordset(${JSON.stringify(MANAGED_CREDENTIAL_TYPES)}::json) AS declared
        (name text, kind text)
      WHERE NOT typ.managed AND typ.name = declared.name AND typ.kind = declared.kind`);
    await this.database.execute(sql`
      WITH shipped AS (
        SELECT * FROM json_to_recordset(${JSON.stringify(MANAGED_CREDENTIAL_TYPES)}::json) AS declared
          (namespace text, name text, kind text, description text, inputs json, injectors json)
      ), changed AS (
        UPDATE credential_types typ SET name = declared.name, kind = declared.kind,
          description = declared.description, inputs = declared.inputs, injectors = declared.injectors,
          modified = now()
        FROM shipped declared
        WHERE typ.managed AND typ.namespace = declared.namespace
          AND (typ.name, typ.kind, typ.description, typ.inputs::text, typ.injectors::text)
            IS DISTINCT FROM
              (declared.name, declared.kind, declared.description, declared.inputs::text, declared.injectors::text)
      )
      INSERT INTO credential_types (namespace, managed, name, kind, description, inputs, injectors)
      SELECT namespace, true, name, kind, description, inputs, injectors FROM shipped declared
      WHERE NOT EXISTS (SELECT 1 FROM credential_types typ
        WHERE typ.managed AND typ.namespace = declared.namespace)`);
  }

  /** Returns all types, ordered by name. */
  all(): Promise<CredentialTypeRow[]> {
    return this.database.preparedRows<CredentialTypeRow>(
      sql`${selectCredentialTypes()} ORDER BY name, id`,
    );
  }

  byIds(ids: readonly number[]): Promise<CredentialTypeRow[]> {
    return this.database.preparedRows<CredentialTypeRow>(
      sql`${selectCredentialTypes()} WHERE id = ANY(${ids}::int[])`,
    );
  }

  /** Returns the id of a shipped type, or null. */
  async managedId(namespace: string): Promise<number | null> {
    const row = await this.database.row<{ id: number }>(
      sql`SELECT id FROM credential_types WHERE managed AND namespace = ${namespace}`,
    );
    return row?.id ?? null;
  }
}
