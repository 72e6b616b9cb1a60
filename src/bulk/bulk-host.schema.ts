import { Choices, fieldsOf, Json, Reference } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';

const LIST = { required: true, default: [], column: null, filter: false } as const;

class BulkHostCreateSchema {
  @Reference(() => resource('inventory'), {
    required: true,
    column: null,
    help: 'Inventory the hosts are added to.',
  })
  inventory!: Reference;

  @Choices(
    [
      ['error', 'Refuse the request'],
      ['update', 'Change the fields that were sent'],
    ],
    {
      column: null,
      filter: false,
      default: 'error',
      blank: false,
      help: 'What to do about a host that exists already.',
    },
  )
  on_conflict!: string;

  @Json({
    ...LIST,
    help: 'Hosts: `name`, and optionally `description`, `enabled`, `instance_id`, `variables` and `groups`, names of groups of the inventory; those that do not exist are made.',
  })
  hosts!: object[];
}

class BulkHostDeleteSchema {
  @Json({ ...LIST, help: 'Ids of the hosts to be deleted; of one or several inventories.' })
  hosts!: number[];
}

/** Bodies of the bulk host requests, for all that describes routes. */
export const HOST_CREATE_FIELDS = fieldsOf(BulkHostCreateSchema);
/** Where hosts go and what becomes of those that are there; of a body of lines in the URL. */
export const HOST_TARGET_FIELDS = HOST_CREATE_FIELDS.filter(({ name }) => name !== 'hosts');
export const HOST_DELETE_FIELDS = fieldsOf(BulkHostDeleteSchema);
