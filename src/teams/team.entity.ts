import { Entity, Index } from 'typeorm';
import { Reference } from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';

@Entity('teams')
@Index('teams_organization_name_key', ['organization_id', 'name'], { unique: true })
export class Team extends NamedEntity {
  @Reference('organization', {
    required: true,
    needs: 'administer',
    help: 'Organization the team belongs to.',
  })
  organization!: Reference;
}
