import { Bool, Integer, Json, Reference } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { NamedSchema } from '../common/resource/schemas.js';

export class CredentialSchema extends NamedSchema {
  @Reference(() => resource('organization'), {
    nullable: true,
    onDelete: 'CASCADE',
    needs: 'credential_admin',
    help: 'Owning organization. Exactly one of organization, user and team is given on creation.',
  })
  organization!: number | null;

  @Reference(() => resource('credential_type'), {
    required: true,
    help: 'What kind of credential this is.',
  })
  credential_type!: number;

  /** Secrets in it are sealed one by one for this row. */
  @Json({ filter: false, help: 'Values for the inputs of the type; secrets show as $encrypted$.' })
  inputs!: Record<string, unknown>;

  @Bool({ readOnly: true })
  managed!: boolean;

  @Integer({ column: null, writeOnly: true, nullable: true, filter: false, help: 'Owning user; on creation only.' })
  user!: number | null;

  @Integer({ column: null, writeOnly: true, nullable: true, filter: false, help: 'Owning team; on creation only.' })
  team!: number | null;
}
