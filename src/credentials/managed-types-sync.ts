import { MANAGED_CREDENTIAL_TYPES } from './types/managed-types.js';

/**
 * Brings the shipped credential types in the table to what this version ships: adds missing ones,
 * changes those that differ, keeps their ids. Idempotent; one statement.
 *
 * @param query runs a statement with its parameters
 */
export async function syncManagedCredentialTypes(
  query: (text: string, parameters: unknown[]) => Promise<unknown>,
): Promise<void> {
  await query(
    `WITH shipped AS (
       SELECT * FROM json_to_recordset($1::json) AS one
         (namespace text, name text, kind text, description text, inputs json, injectors json)
     ), changed AS (
       UPDATE credential_types typ SET name = one.name, kind = one.kind,
         description = one.description, inputs = one.inputs, injectors = one.injectors,
         modified = now()
       FROM shipped one
       WHERE typ.managed AND typ.namespace = one.namespace
         AND (typ.name, typ.kind, typ.description, typ.inputs::text, typ.injectors::text)
           IS DISTINCT FROM
             (one.name, one.kind, one.description, one.inputs::text, one.injectors::text)
     )
     INSERT INTO credential_types (namespace, managed, name, kind, description, inputs, injectors)
     SELECT namespace, true, name, kind, description, inputs, injectors FROM shipped one
     WHERE NOT EXISTS (SELECT 1 FROM credential_types typ
       WHERE typ.managed AND typ.namespace = one.namespace)`,
    [JSON.stringify(MANAGED_CREDENTIAL_TYPES)],
  );
}
