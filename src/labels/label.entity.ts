import { Entity, Index } from 'typeorm';
import { Char, Reference } from '../common/fields/field.js';
import { OwnedEntity } from '../common/resource/resource.entity.js';

@Entity('labels')
@Index('labels_organization_name_key', ['organization_id', 'name'], { unique: true })
export class Label extends OwnedEntity {
  @Char({ required: true, search: true, help: 'Name of this object.' })
  name!: string;

  @Reference('organization', {
    required: true,
    needs: 'member',
    help: 'Organization the label belongs to.',
  })
  organization!: Reference;
}
