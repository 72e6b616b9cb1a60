import { applyDecorators } from '@nestjs/common';
import { Exclude, Expose, Transform } from 'class-transformer';
import type { Field } from './field.js';
import { lenientReader } from './lenient.js';
import { SentBody, sentValue } from './sent-body.js';
import { validatorsOf } from './validators.js';

/** Whether requests may set the field at all. */
export const isWritable = ({ readOnly, internal }: Field): boolean => !readOnly && !internal;

/** The value of a field that a request leaves out; undefined: none. */
export const absentValue = ({ required, assumed, default: value }: Field): unknown =>
  required || !assumed ? undefined : value;

/** What class-transformer and class-validator are told of a field. */
export function Reads(field: Field): PropertyDecorator {
  if (!isWritable(field)) return Exclude({ toClassOnly: true });
  const read = lenientReader(field);
  return applyDecorators(
    Expose(),
    Transform(({ obj }: { obj: unknown }) => {
      const given = obj instanceof SentBody ? sentValue(obj.body, field) : undefined;
      return given === undefined ? absentValue(field) : read(given);
    }),
    ...validatorsOf(field),
  );
}
