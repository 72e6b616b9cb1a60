import { Entity, Index } from 'typeorm';
import { Reference } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { NamedSchema } from '../common/resource/schemas.js';

@Entity('teams')
@Index('teams_organization_name_key', ['organization_id', 'name'], { unique: true })
export class TeamSchema extends NamedSchema {
  @Reference(() => resource('organization'), {
    required: true,
    needs: 'administer',
    help: 'Organization the team belongs to.',
  })
  organization!: Reference;
}
