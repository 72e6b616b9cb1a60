import { Column, Entity, ForeignKey, Index } from 'typeorm';
import {
  Bool,
  Char,
  Choices,
  Integer,
  Json,
  Reference,
  SecretText,
  Text,
} from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';
import { CASCADE, GeneratedId, now } from '../database/table.js';

/** Members of the `configuration` of an OpenID Connect provider. */
export class OidcConfiguration {
  @Char({ required: true, max: 1024, help: 'URL of the provider, without /.well-known.' })
  issuer!: string;

  @Char({ required: true, label: 'Client ID' })
  client_id!: string;

  @SecretText({ max: 1024, help: 'Empty for a public client.' })
  client_secret!: string;

  @Choices(
    [
      ['client_secret_basic', 'In the Authorization header'],
      ['client_secret_post', 'In the body'],
    ],
    { default: 'client_secret_basic', help: 'How the secret is sent to the token endpoint.' },
  )
  token_auth_method!: string;

  @Char({ default: 'openid profile email', help: 'Requested scopes; openid is required.' })
  scopes!: string;

  @Char({ default: 'preferred_username', help: 'Claim with the username of new users.' })
  username_claim!: string;

  @Bool({ default: true, help: 'Read the claims of the userinfo endpoint, too.' })
  userinfo!: boolean;
}

/** External identity provider that users can log in with (docs/single-sign-on.md). */
@Entity('authenticators')
@Index('authenticators_name_key', ['name'], { unique: true })
@Index('authenticators_slug_key', ['slug'], { unique: true })
@Index('authenticators_order_idx', ['order', 'id'])
export class Authenticator extends NamedEntity {
  @Char({
    immutable: true,
    max: 64,
    help: 'Part of the callback URL, made from the name by default. Cannot be changed.',
  })
  slug!: string;

  @Char({
    column: null,
    readOnly: true,
    filter: false,
    label: 'Callback URL',
    help: 'To be entered at the provider, behind the address of this controller.',
  })
  callback_url!: string;

  @Choices([['oidc', 'OpenID Connect']], { default: 'oidc', immutable: true, help: 'Protocol.' })
  kind!: string;

  @Bool({ default: true, help: 'Offered on the login page.' })
  enabled!: boolean;

  @Integer({ default: 1, min: 0, help: 'Position on the login page.' })
  order!: number;

  @Bool({ default: true, help: 'Create users at their first login; otherwise it is refused.' })
  create_users!: boolean;

  /** The client secret is sealed for this row. */
  @Json({
    required: true,
    filter: false,
    help: 'issuer, client_id, client_secret, token_auth_method, scopes, username_claim, userinfo. Replaced as a whole; $encrypted$ keeps the secret.',
    examples: () => ({
      'OpenID Connect': {
        issuer: 'https://login.example.com/realms/main',
        client_id: 'automation-controller',
        client_secret: '',
      },
    }),
  })
  configuration!: OidcConfiguration;
}

const MAP_TYPES = [
  ['allow', 'Allow the login'],
  ['deny', 'Deny the login'],
  ['superuser', 'Grant superuser'],
  ['auditor', 'Grant system auditor'],
  ['organization', 'Grant a role of an organization'],
  ['team', 'Grant a role of a team'],
] as const;

const TRIGGERS = [
  ['always', 'At every login'],
  ['equals', 'The claim has the value'],
  ['in', 'The claim has a value of the lines'],
  ['matches', 'The claim matches the pattern'],
] as const;

/** Rule that derives a right from the claims of a login (docs/single-sign-on.md#maps). */
@Entity('authenticator_maps')
@Index('authenticator_maps_name_key', ['authenticator_id', 'name'], { unique: true })
@Index('authenticator_maps_order_idx', ['authenticator_id', 'order', 'id'])
export class AuthenticatorMap extends NamedEntity {
  @Reference('authenticator', { required: true, immutable: true, index: false, needs: 'change' })
  authenticator!: Reference;

  @Integer({ default: 1, min: 0, help: 'Order of evaluation; names the first map that denies.' })
  order!: number;

  @Choices(MAP_TYPES, { required: true, help: 'Effect of the map.' })
  map_type!: string;

  @Choices(TRIGGERS, { default: 'always', help: 'When the map takes effect.' })
  trigger!: string;

  @Char({ help: 'Name of the claim, such as groups, or a JSON pointer: /realm_access/roles.' })
  claim!: string;

  @Text({
    max: 8192,
    control: 'lines',
    help: 'Value of the claim; one value in each line for in, * for any characters for matches.',
  })
  value!: string;

  @Reference('organization', { nullable: true, onDelete: 'CASCADE', index: 'where set' })
  organization!: Reference | null;

  @Reference('team', { nullable: true, onDelete: 'CASCADE', index: 'where set' })
  team!: Reference | null;

  @Char({
    max: 64,
    suggests: () => ['member_role', 'admin_role', 'auditor_role'],
    help: 'Role field of the organization or team, such as member_role.',
  })
  role!: string;

  @Bool({ default: true, help: 'Take the right away when the trigger does not fire.' })
  revoke!: boolean;
}

/** Account at an identity provider, and the user that it logs in. */
@Entity('external_identities')
@Index('external_identities_subject_key', ['authenticator_id', 'subject'], { unique: true })
export class ExternalIdentity {
  @GeneratedId()
  id!: number;

  @Column('integer')
  @ForeignKey('authenticators', CASCADE)
  authenticator_id!: number;

  /** Permanent id of the account at the provider: the claim `sub`. */
  @Column('text')
  subject!: string;

  @Column('integer')
  @ForeignKey('users', CASCADE)
  @Index()
  user_id!: number;

  /** True if a map of this authenticator made the user a superuser. */
  @Column({ type: 'boolean', default: false })
  is_superuser!: boolean;

  /** True if a map of this authenticator made the user a system auditor. */
  @Column({ type: 'boolean', default: false })
  is_system_auditor!: boolean;

  @Column({ type: 'timestamp with time zone', default: now })
  created!: string;
}
