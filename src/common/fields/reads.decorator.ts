import { applyDecorators } from '@nestjs/common';
import { Exclude, Expose, Transform } from 'class-transformer';
import type { Field } from './field.js';
import { lenientReader } from './lenient-reader.js';
import { SentBody, sentValue } from './sent-body.js';
import { validatorsOf } from './validators.js';

/** Returns true if requests can set the field. */
export const isWritable = ({ readOnly, internal }: Field): boolean => !readOnly && !internal;

/** Returns the value of an omitted field, or undefined. */
export const absentValue = ({ required, usesDefault, default: value }: Field): unknown =>
  required || !usesDefault ? undefined : value;

/** Decorates a property for class-transformer and class-validator. */
export function Reads(field: Field): PropertyDecorator {
  if (!isWritable(field)) return Exclude({ toClassOnly: true });
  const read = lenientReader(field);
  return applyDecorators(
    Expose(),
    Transform(({ obj }: { obj: unknown }) => {
      const sent = obj instanceof SentBody ? sentValue(obj.body, field) : undefined;
      return sent === undefined ? absentValue(field) : read(sent);
    }),
    ...validatorsOf(field),
  );
}
