import { WIDE } from '../../common/fields/column-types.js';
import { Reference } from '../../common/fields/field.js';
import { resource } from '../../common/resource/registry.js';
import { PlainEvent } from './plain-event.entity.js';

/** One event of an ad hoc command. */
export class AdHocCommandEvent extends PlainEvent {
  @Reference(() => resource('ad_hoc_command'), {
    ...WIDE,
    readOnly: true,
    index: false,
    column: 'job_id',
  })
  ad_hoc_command!: Reference;
}
