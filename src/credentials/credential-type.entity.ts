import { Entity, Index } from 'typeorm';
import { Bool, Char, Choices, Json } from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';
import { CREDENTIAL_KIND_CHOICES } from './types/definition.js';

@Entity('credential_types')
@Index('credential_types_name_kind_key', ['name', 'kind'], { unique: true })
@Index('credential_types_kind_name_order_idx', ['kind', 'name', 'id'])
export class CredentialType extends NamedEntity {
  @Choices(CREDENTIAL_KIND_CHOICES, { required: true, help: 'Custom types are cloud or net.' })
  kind!: string;

  @Char({ readOnly: true, nullable: true, help: 'Identifier of a shipped type.' })
  namespace!: string | null;

  @Bool({ readOnly: true, help: 'Shipped with the product.' })
  managed!: boolean;

  @Json({ help: 'Inputs of credentials of this type, JSON or YAML.' })
  inputs!: Record<string, unknown>;

  @Json({ help: 'How the inputs reach a playbook, JSON or YAML.' })
  injectors!: Record<string, unknown>;
}
