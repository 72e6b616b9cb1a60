import { WIDE } from '../../common/fields/column-types.js';
import { Reference } from '../../common/fields/field.js';
import { resource } from '../../common/resource/registry.js';
import { PlainEventSchema } from './plain-event.schema.js';

/** One event of an ad hoc command. */
export class AdHocCommandEventSchema extends PlainEventSchema {
  @Reference(() => resource('ad_hoc_command'), {
    ...WIDE,
    readOnly: true,
    index: false,
    column: 'job_id',
  })
  ad_hoc_command!: Reference;
}
