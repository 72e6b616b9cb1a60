import { Entity, Index } from 'typeorm';
import { Choices, DateTime, Integer, Reference, Text } from '../common/fields/field.js';
import { ResourceEntity } from '../common/resource/resource.entity.js';

@Entity('tokens')
@Index('tokens_digest_key', ['digest'], { unique: true })
export class Token extends ResourceEntity {
  @Text({ search: true, help: 'What the token is for.' })
  description!: string;

  @Reference('user', { readOnly: true, help: 'Owner.' })
  user!: Reference;

  @Text({ column: null, readOnly: true, filter: false, help: 'Shown in clear once, on creation.' })
  token!: string;

  @Text({ column: null, readOnly: true, nullable: true, filter: false })
  refresh_token!: string | null;

  @Integer({ column: null, nullable: true, filter: false, help: 'Always null: a personal token.' })
  application!: number | null;

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
}
