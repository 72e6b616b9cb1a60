import { Entity, Index } from 'typeorm';
import { Char, Json, Reference, Text } from '../common/fields/field.js';
import { OwnedEntity } from '../common/resource/resource.entity.js';

/** Secret store from which one input of a credential is looked up. */
@Entity('credential_input_sources')
@Index('credential_input_sources_target_field_key', ['target_credential_id', 'input_field_name'], {
  unique: true,
})
export class CredentialInputSource extends OwnedEntity {
  @Text({ search: true, help: 'Optional description.' })
  description!: string;

  @Char({ required: true, help: 'Input of the target that is looked up.' })
  input_field_name!: string;

  @Json({ filter: false, help: 'Names the secret in the store, by the type of the source.' })
  metadata!: Record<string, unknown>;

  @Reference('credential', {
    required: true,
    needs: 'change',
    index: false,
    help: 'Credential that gets the value.',
  })
  target_credential!: Reference;

  @Reference('credential', {
    required: true,
    needs: 'use',
    help: 'Credential of a secret store.',
  })
  source_credential!: Reference;
}
