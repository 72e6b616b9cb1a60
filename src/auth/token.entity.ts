import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Choices, DateTime, Reference, Text } from '../common/fields/field.js';
import { ResourceEntity } from '../common/resource/resource.entity.js';
import { LinkTo } from '../database/table.js';

@Entity('tokens')
@Index('tokens_digest_key', ['digest'], { unique: true })
export class Token extends ResourceEntity {
  @Text({ search: true, help: 'Purpose of the token.' })
  description!: string;

  @Reference('user', { readOnly: true, help: 'Owner.' })
  user!: Reference;

  @Text({ column: null, readOnly: true, filter: false, help: 'Masked, except on creation.' })
  token!: string;

  @Text({
    column: null,
    readOnly: true,
    nullable: true,
    filter: false,
    help: 'Masked, except on creation. Null for a personal token.',
  })
  refresh_token!: string | null;

  @Reference('o_auth2_application', {
    nullable: true,
    immutable: true,
    onDelete: 'CASCADE',
    index: 'where set',
    help: 'Application that acts with the token; null: a personal token.',
  })
  application!: Reference | null;

  @DateTime({ readOnly: true, help: 'End of validity.' })
  expires!: string | null;

  @Choices(
    [
      ['read', 'Read'],
      ['write', 'Write'],
      ['read write', 'Read and write'],
    ],
    { default: 'write', help: 'read: only GET, HEAD and OPTIONS.' },
  )
  scope!: string;

  @DateTime({ readOnly: true, help: 'Last request with this token, to the minute.' })
  last_used!: string | null;

  @Text({ internal: true })
  digest!: string;

  /** Grant of the user that the token belongs to; null for a personal token. */
  @Column({ type: 'uuid', nullable: true })
  @Index({ where: 'grant_id IS NOT NULL' })
  grant_id!: string | null;
}

/** Secret of a grant. An application can exchange the secret for tokens once. */
export abstract class GrantSecret {
  @PrimaryColumn('text')
  digest!: string;

  @LinkTo('applications', { index: true })
  application_id!: number;

  @LinkTo('users', { index: true })
  user_id!: number;

  @Column('text')
  scope!: string;

  @Column('uuid')
  @Index()
  grant_id!: string;

  @Column('timestamp with time zone')
  @Index()
  expires!: string;

  /** True after the exchange. A second use indicates theft, and ends the grant. */
  @Column({ type: 'boolean', default: false })
  used!: boolean;
}

/** Refresh token, which an application exchanges for the next pair of tokens. */
@Entity('refresh_tokens')
export class RefreshToken extends GrantSecret {}
