import { Entity, Index } from 'typeorm';
import { Integer } from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';

@Entity('organizations')
@Index('organizations_name_key', ['name'], { unique: true })
export class Organization extends NamedEntity {
  @Integer({
    min: 0,
    default: 0,
    help: 'Most hosts this organization may have; 0 is no limit. Set by superusers.',
  })
  max_hosts!: number;
}
