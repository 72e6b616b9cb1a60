import { Bool, Char, fieldsOf, Text, Variables } from '../common/fields/field.js';
import { entrySchema } from '../common/fields/field-schema.js';
import * as json from '../common/fields/json-schema.js';

/** Options of fields that have neither a column nor a default. */
const ENTRY = { column: null, filter: false, usesDefault: false } as const;

/** Host of a bulk request: an item of `hosts` or a line of an NDJSON body. Group names are parsed separately. */
export class BulkHostEntry {
  @Char({ ...ENTRY, required: true, help: 'Name of the host.' })
  name!: string;

  @Text({ ...ENTRY, help: 'Description of the host.' })
  description!: string;

  @Bool({ ...ENTRY, help: 'True if jobs run on the host.' })
  enabled!: boolean;

  @Char({ ...ENTRY, max: 1024, help: 'Identifier of the host at its cloud provider.' })
  instance_id!: string;

  @Variables({ ...ENTRY, help: 'JSON or YAML text, or an object.' })
  variables!: string;
}

export class BulkGroupEntry {
  @Char({ ...ENTRY, required: true })
  name!: string;
}

/** OpenAPI schema of a host with the names of its groups. */
export const BULK_HOST_ENTRY = entrySchema(fieldsOf(BulkHostEntry), {
  groups: json.described(json.list(json.STRING), 'Names of the groups of the host.'),
});
