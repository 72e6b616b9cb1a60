import { Injectable } from '@nestjs/common';
import { Forbidden, Invalid } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { heldBy } from '../common/resource/held-by.js';
import type { ResourceHooks, Values, ValuesOf } from '../common/rest/hooks.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { normalizeInputs, validateTypeDefinition } from './types/input-schema.js';
import type { CredentialTypeSchema } from './credential-type.schema.js';

/**
 * Rules of custom credential types (docs/contract/resources.md#credential-types). Shipped types
 * never change through the API.
 */
@Injectable()
export class CredentialTypeHooks implements ResourceHooks<CredentialTypeSchema> {
  constructor(private readonly database: Database) {}

  async prepareCreate(values: ValuesOf<CredentialTypeSchema>): Promise<void> {
    checkDefinition(values, values);
  }

  async prepareUpdate(
    row: RowOf<CredentialTypeSchema>,
    values: ValuesOf<CredentialTypeSchema>,
  ): Promise<void> {
    if (row.managed === true) {
      throw new Forbidden('Modifications not allowed for managed credential types');
    }
    checkDefinition({ ...row, ...values }, values);
    const changed = ['inputs', 'kind'].find(
      (name) => name in values && JSON.stringify(values[name]) !== JSON.stringify(row[name]),
    );
    if (changed && (await this.users(row)) !== null) {
      throw new Forbidden(
        `Modifications to ${changed} are not allowed for credential types that are in use`,
      );
    }
  }

  async prepareDelete(row: RowOf<CredentialTypeSchema>): Promise<void> {
    if (row.managed === true) {
      throw new Forbidden('Deletion not allowed for managed credential types');
    }
    const users = await this.users(row);
    if (users !== null) {
      throw new Forbidden(`Credential types that are in use cannot be deleted: ${users}.`);
    }
  }

  /** The row is locked by the request, and a new credential locks it too: the answer holds. */
  private users(row: RowOf<CredentialTypeSchema>): Promise<string | null> {
    return heldBy(
      this.database,
      sql`SELECT id, 'credential' AS type FROM credentials WHERE credential_type_id = ${row.id}`,
    );
  }
}

/** @throws Invalid for a definition that cannot be used; fills in the defaults of `values.inputs` */
function checkDefinition(
  { kind, inputs, injectors }: ValuesOf<CredentialTypeSchema>,
  values: ValuesOf<CredentialTypeSchema>,
): void {
  const errors = validateTypeDefinition({ kind, inputs, injectors });
  if (Object.keys(errors).length > 0) throw new Invalid(errors);
  if ('inputs' in values) values.inputs = normalizeInputs(values.inputs as Values);
}
