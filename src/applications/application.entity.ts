import { Column, Entity, Index } from 'typeorm';
import { GrantSecret } from '../auth/token.entity.js';
import { Bool, Char, Choices, Reference, Text } from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';

/** OAuth 2 client that acts for users with tokens that they granted (docs/applications.md). */
@Entity('applications')
@Index('applications_organization_name_key', ['organization_id', 'name'], { unique: true })
@Index('applications_client_id_key', ['client_id'], { unique: true })
export class Application extends NamedEntity {
  @Reference('organization', {
    required: true,
    needs: 'change',
    onDelete: 'CASCADE',
    index: false,
    help: 'Organization whose members can see the application.',
  })
  organization!: Reference;

  @Char({ readOnly: true, label: 'Client ID', help: 'Public identifier of the application.' })
  client_id!: string;

  @Text({
    column: null,
    readOnly: true,
    filter: false,
    help: 'Masked, except on creation. Public clients have no secret.',
  })
  client_secret!: string;

  @Choices(
    [
      ['confidential', 'Confidential'],
      ['public', 'Public'],
    ],
    {
      required: true,
      help: 'confidential: can keep a secret. public: runs on a device of the user.',
    },
  )
  client_type!: string;

  @Text({
    max: 8192,
    label: 'Redirect URIs',
    help: 'URLs that users return to, separated by spaces. The URL of a request must equal one of them.',
  })
  redirect_uris!: string;

  @Choices(
    [
      ['authorization-code', 'Authorization code'],
      ['password', 'Resource owner password-based'],
    ],
    { required: true, immutable: true, help: 'How the application gets tokens.' },
  )
  authorization_grant_type!: string;

  @Bool({ help: 'Do not ask users for their consent. Only superusers can set it.' })
  skip_authorization!: boolean;

  /** Empty for a public client. */
  @Text({ internal: true })
  secret_digest!: string;
}

/** Authorization code, which an application exchanges for tokens (RFC 6749, section 4.1). */
@Entity('authorization_codes')
export class AuthorizationCode extends GrantSecret {
  /** Empty if the authorization request contained no redirect URI. */
  @Column('text')
  redirect_uri!: string;

  /** S256 challenge (RFC 7636); null for a confidential client that sent none. */
  @Column({ type: 'text', nullable: true })
  code_challenge!: string | null;

  /** `users.session_generation` at the consent. A change of the password ends earlier codes. */
  @Column('integer')
  generation!: number;
}
