import { Bool, Char, fieldsOf, Text, Variables } from '../common/fields/field.js';
import { entrySchema } from '../common/fields/field-schema.js';
import { list, STRING } from '../common/fields/json-schema.js';

/** What is left out is not changed. */
const OWN = { column: null, filter: false, assumed: false } as const;

/** A host of a bulk request, or of one line of it. Names of groups are read beside it. */
export class GivenHost {
  @Char({ ...OWN, required: true })
  name!: string;

  @Text(OWN)
  description!: string;

  @Bool(OWN)
  enabled!: boolean;

  @Char({ ...OWN, max: 1024 })
  instance_id!: string;

  /** Text of JSON or YAML. */
  @Variables({ ...OWN, help: 'JSON or YAML; an object too.' })
  variables!: string;
}

/** A group such a host shall be in. */
export class GivenGroup {
  @Char({ ...OWN, required: true })
  name!: string;
}

/** A host of a request, for the OpenAPI document. */
export const GIVEN_HOST = entrySchema(fieldsOf(GivenHost), { groups: list(STRING) });
