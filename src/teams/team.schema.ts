import { Reference } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { NamedSchema } from '../common/resource/schemas.js';

export class TeamSchema extends NamedSchema {
  @Reference(() => resource('organization'), {
    required: true,
    needs: 'administer',
    help: 'Organization the team belongs to.',
  })
  organization!: Reference;
}
