import { Bool, Char, fieldsOf, Text, Variables } from '../common/fields/field.js';
import { entrySchema } from '../common/fields/field-schema.js';
import * as json from '../common/fields/json-schema.js';

/** Options of a field that keeps its value if the request omits the field. */
const KEPT = { column: null, filter: false, usesDefault: false } as const;

/** Host of a bulk request or of a line of its body. Group names are parsed separately. */
export class BulkHostEntry {
  @Char({ ...KEPT, required: true, help: 'Name of the host.' })
  name!: string;

  @Text({ ...KEPT, help: 'Optional description.' })
  description!: string;

  @Bool({ ...KEPT, help: 'True if jobs run on the host.' })
  enabled!: boolean;

  @Char({ ...KEPT, max: 1024, help: 'Identifier of the host at its cloud provider.' })
  instance_id!: string;

  /** Text with JSON or YAML. */
  @Variables({ ...KEPT, help: 'JSON or YAML text, or an object.' })
  variables!: string;
}

export class BulkGroupEntry {
  @Char({ ...KEPT, required: true })
  name!: string;
}

/** Host of a request, for the OpenAPI document. */
export const BULK_HOST_ENTRY = entrySchema(fieldsOf(BulkHostEntry), {
  groups: json.described(json.list(json.STRING), 'Names of the groups of the host.'),
});
