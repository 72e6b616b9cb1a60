import { Entity, Index } from 'typeorm';
import {
  Bool,
  Char,
  Choices,
  DateTime,
  fieldsOf,
  Integer,
  Json,
  Reference,
  Text,
} from '../common/fields/field.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { NamedEntity, ResourceEntity } from '../common/resource/resource.entity.js';
import { keysOf } from '../common/records.js';
import {
  AUTHENTICATOR_KINDS,
  type AuthenticatorKind,
  type Configurations,
} from './authenticator-kinds.js';

const KINDS = keysOf(AUTHENTICATOR_KINDS);

/** External identity provider that users can log in with (docs/single-sign-on.md). */
@Entity('authenticators')
@Index('authenticators_name_key', ['name'], { unique: true })
@Index('authenticators_slug_key', ['slug'], { unique: true })
@Index('authenticators_order_idx', ['order', 'id'])
export class Authenticator extends NamedEntity {
  @Char({
    immutable: true,
    max: 64,
    help: 'Part of the callback URL, derived from the name by default. Cannot be changed.',
  })
  slug!: string;

  @Char({
    column: null,
    readOnly: true,
    filter: false,
    label: 'Callback URL',
    help: 'Path to enter at the provider, after the URL of this controller. Empty for LDAP.',
  })
  callback_url!: string;

  @Choices(KINDS.map((kind) => [kind, AUTHENTICATOR_KINDS[kind].label]), {
    default: 'oidc',
    usesDefault: false,
    help: 'Protocol. Cannot be changed.',
  })
  kind!: AuthenticatorKind;

  @Bool({ default: true, help: 'Show on the login page; directory: check passwords.' })
  enabled!: boolean;

  @Integer({ default: 1, min: 0, help: 'Position on the login page, and among directories.' })
  order!: number;

  @Bool({ default: true, help: 'Create users at their first login; otherwise it is refused.' })
  create_users!: boolean;

  /** Start of the last synchronization of a directory. */
  @DateTime({ internal: true })
  synced_at!: string | null;

  /** The secret of the kind is sealed for this row. */
  @Json({
    required: true,
    filter: false,
    help: KINDS.map(
      (kind) =>
        `${kind}: ${fieldsOf(AUTHENTICATOR_KINDS[kind].schema)
          .map(({ name }) => name)
          .join(', ')}.`,
    )
      .concat('Replaced as a whole; $encrypted$ keeps the secret.')
      .join(' '),
    examples: () =>
      Object.fromEntries(
        Object.values(AUTHENTICATOR_KINDS).map(({ label, example }) => [label, example]),
      ),
  })
  configuration!: Configurations[AuthenticatorKind];
}

/** Authenticator of one or several kinds. */
export type AuthenticatorOf<Kind extends AuthenticatorKind> = Kind extends AuthenticatorKind
  ? RowOf<Authenticator> & { kind: Kind; configuration: Configurations[Kind] }
  : never;

/** Authenticator of any kind; `kind` determines the type of the configuration. */
export type AnyAuthenticator = AuthenticatorOf<AuthenticatorKind>;

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
  ['in', 'The claim has one of the values'],
  ['matches', 'The claim matches the pattern'],
] as const;

/**
 * Rule that grants a role, or allows or denies a login, by the claims of the login
 * (docs/single-sign-on.md#maps).
 */
@Entity('authenticator_maps')
@Index('authenticator_maps_name_key', ['authenticator_id', 'name'], { unique: true })
@Index('authenticator_maps_order_idx', ['authenticator_id', 'order', 'id'])
export class AuthenticatorMap extends NamedEntity {
  @Reference('authenticator', {
    required: true,
    immutable: true,
    index: false,
    needs: 'change',
    help: 'Authenticator that the map belongs to.',
  })
  authenticator!: Reference;

  @Integer({
    default: 1,
    min: 0,
    help: 'Order of evaluation: a refusal names the first map that denies.',
  })
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

  @Reference('organization', {
    nullable: true,
    onDelete: 'CASCADE',
    index: 'where set',
    help: 'Organization in which the map grants a role.',
  })
  organization!: Reference | null;

  @Reference('team', {
    nullable: true,
    onDelete: 'CASCADE',
    index: 'where set',
    help: 'Team in which the map grants a role.',
  })
  team!: Reference | null;

  @Char({
    max: 64,
    suggestions: () => ['member_role', 'admin_role', 'auditor_role'],
    help: 'Role field of the organization or team, such as member_role.',
  })
  role!: string;

  @Bool({ default: true, help: 'Revoke the grant if the trigger does not match.' })
  revoke!: boolean;
}

const IN_EFFECT = { readOnly: true, default: false } as const;

/** Account at an identity provider, and the user that it logs in. */
@Entity('external_identities')
@Index('external_identities_subject_key', ['authenticator_id', 'subject'], { unique: true })
export class ExternalIdentity extends ResourceEntity {
  @Reference('authenticator', {
    required: true,
    immutable: true,
    index: false,
    needs: 'change',
    help: 'Authenticator of the account.',
  })
  authenticator!: Reference;

  @Char({
    required: true,
    immutable: true,
    max: 1024,
    help: 'Permanent id of the account at the provider: the claim sub, the numeric id, or the id attribute.',
  })
  subject!: string;

  @Reference('user', { required: true, immutable: true, needs: 'change', help: 'User to log in.' })
  user!: Reference;

  @Bool({ ...IN_EFFECT, help: 'A map of the authenticator made the user a superuser.' })
  is_superuser!: boolean;

  @Bool({ ...IN_EFFECT, help: 'A map of the authenticator made the user a system auditor.' })
  is_system_auditor!: boolean;
}
