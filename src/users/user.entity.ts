import { Entity, ForeignKey, Index } from 'typeorm';
import { Bool, Char, DateTime, Email, Integer, Text } from '../common/fields/field.js';
import { ResourceEntity } from '../common/resource/resource.entity.js';
import { SET_NULL } from '../database/table.js';

@Entity('users')
@Index('users_username_key', ['username'], { unique: true })
export class User extends ResourceEntity {
  @Char({
    max: 150,
    required: true,
    search: true,
    help: 'Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.',
  })
  username!: string;

  @Char({ max: 150, search: true, help: 'First name.' })
  first_name!: string;

  @Char({ max: 150, search: true, help: 'Last name.' })
  last_name!: string;

  @Email({ search: true, label: 'Email address', help: 'Mail address.' })
  email!: string;

  @Bool({ label: 'Superuser status', help: 'May do everything.' })
  is_superuser!: boolean;

  @Bool({ help: 'May read everything.' })
  is_system_auditor!: boolean;

  @Text({
    column: null,
    filter: false,
    max: 128,
    help: 'Write-only; shown as $encrypted$. Empty keeps the current password.',
  })
  password!: string;

  @DateTime({ readOnly: true, help: 'Time of the last login.' })
  last_login!: string | null;

  @Char({
    readOnly: true,
    nullable: true,
    max: 64,
    help: 'Slug of the authenticator that created the user.',
  })
  @ForeignKey('authenticators', 'slug', SET_NULL)
  @Index({ where: '(external_account IS NOT NULL)' })
  external_account!: string | null;

  @Bool({ readOnly: true, help: 'A login with the password also needs a code or a passkey.' })
  has_second_factor!: boolean;

  @Bool({
    readOnly: true,
    help: 'The directory of the account no longer has it: the user cannot log in or use tokens.',
  })
  is_disabled!: boolean;

  /** scrypt hash; empty for an account that cannot log in with a password. */
  @Text({ internal: true })
  password_hash!: string;

  /** Incremented for a new password and for the first second factor. Sessions of older generations end. */
  @Integer({ internal: true, default: 0 })
  session_generation!: number;
}
