import { fieldsOf, Json, Reference } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';

const LIST = { required: true, default: [], column: null, filter: false } as const;

class BulkHostCreateSchema {
  @Reference(() => resource('inventory'), {
    required: true,
    column: null,
    help: 'Inventory the hosts are added to.',
  })
  inventory!: number;

  @Json({
    ...LIST,
    help: 'Hosts: `name`, and optionally `description`, `enabled`, `instance_id`, `variables`.',
  })
  hosts!: object[];
}

class BulkHostDeleteSchema {
  @Json({ ...LIST, help: 'Ids of the hosts to be deleted; of one or several inventories.' })
  hosts!: number[];
}

/** Bodies of the bulk host requests (seed, Bulk), for all that describes routes. */
export const HOST_CREATE_FIELDS = fieldsOf(BulkHostCreateSchema);
export const HOST_DELETE_FIELDS = fieldsOf(BulkHostDeleteSchema);
