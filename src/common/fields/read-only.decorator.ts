import { prototypeOf } from '../records.js';
import { fieldsByName } from './field.js';
import { isWritable, Reads } from './reads.decorator.js';

/** Makes all fields of a class read-only, also those that the class inherits or includes. */
export const ReadOnly = (): ClassDecorator => (schema) => {
  const prototype = prototypeOf(schema);
  const fields = fieldsByName(prototype);
  for (const [name, field] of fields) {
    if (!isWritable(field)) continue;
    const shown = { ...field, readOnly: true };
    fields.set(name, shown);
    Reads(shown)(prototype, name);
  }
};
