import { Entity, Index } from 'typeorm';
import { Bool, Char, Json, Reference } from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { selectCredentialTypes } from './credential-types.repository.js';
import type { CredentialInputs } from './types/definition.js';

const COMPUTED = { readOnly: true, column: null } as const;
/** Returns the SQL of a value of the credential's type. */
export const ofType = (alias: string, value: Sql): Sql => sql`(
  SELECT ${value} FROM (${selectCredentialTypes()}) type
  WHERE type.id = ${ident(alias, 'credential_type_id')})`;
const namespaceOf = (alias: string): Sql => ofType(alias, sql`COALESCE(type.namespace, '')`);
const isOfKind =
  (kind: string) =>
  (alias: string): Sql =>
    ofType(alias, sql`type.kind = ${kind}`);
/** Options of owner fields, which apply to creation only. Later, roles determine the owners. */
const OWNER = {
  column: null,
  writeOnly: true,
  immutable: true,
  nullable: true,
  filter: false,
  needs: 'change',
  oneOf: 'owner',
} as const;

@Entity('credentials')
@Index(
  'credentials_organization_name_type_key',
  ['organization_id', 'name', 'credential_type_id'],
  { unique: true },
)
@Index('credentials_name_order_idx', ['name', 'id'])
export class Credential extends NamedEntity {
  @Reference('organization', {
    nullable: true,
    onDelete: 'CASCADE',
    needs: 'credential_admin',
    oneOf: 'owner',
    help: 'Owning organization. Creation requires exactly one of organization, user and team.',
  })
  organization!: Reference | null;

  @Reference('credential_type', {
    required: true,
    help: 'Type of the credential.',
  })
  credential_type!: Reference;

  /** Inputs, in which each secret is sealed separately for this row. */
  @Json({ filter: false, help: 'Values for the inputs of the type; secrets show as $encrypted$.' })
  inputs!: CredentialInputs;

  @Bool({ readOnly: true, help: 'True if the product provides the credential.' })
  managed!: boolean;

  @Char({ ...COMPUTED, computed: namespaceOf, help: 'Namespace of the type.' })
  kind!: string;

  @Bool({ ...COMPUTED, computed: isOfKind('cloud'), help: 'The type is of the kind cloud.' })
  cloud!: boolean;

  @Bool({
    ...COMPUTED,
    computed: isOfKind('kubernetes'),
    help: 'The type is of the kind kubernetes.',
  })
  kubernetes!: boolean;

  @Reference('user', { ...OWNER, help: 'Owning user; on creation only.' })
  user!: Reference | null;

  @Reference('team', { ...OWNER, help: 'Owning team; on creation only.' })
  team!: Reference | null;
}
