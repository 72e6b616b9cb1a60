import { Bool, Char, fieldsOf, Text, Variables } from '../common/fields/field.js';
import { entrySchema } from '../common/fields/field-schema.js';
import { list, STRING } from '../common/fields/json-schema.js';

/** Options of a field that keeps its value if it is omitted. */
const OWN = { column: null, filter: false, assumed: false } as const;

/** Host of a bulk request, or of one of its lines. Group names are read separately. */
export class GivenHost {
  @Char({ ...OWN, required: true })
  name!: string;

  @Text(OWN)
  description!: string;

  @Bool(OWN)
  enabled!: boolean;

  @Char({ ...OWN, max: 1024 })
  instance_id!: string;

  /** Text with JSON or YAML. */
  @Variables({ ...OWN, help: 'JSON or YAML; an object too.' })
  variables!: string;
}

/** Group of a host, by name. */
export class GivenGroup {
  @Char({ ...OWN, required: true })
  name!: string;
}

/** Host of a request, for the OpenAPI document. */
export const GIVEN_HOST = entrySchema(fieldsOf(GivenHost), { groups: list(STRING) });
