import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { Invalid, type FieldErrors } from '../errors/errors.js';
import { BrokenInvariant } from '../invariants.js';
import { fieldsOf, type SchemaClass } from './field.js';
import { SentBody } from './sent-body.js';
import { messageBuilderOf } from './validators.js';

type Body = Readonly<Record<string, unknown>>;

/**
 * Returns the body of a request as an instance of its class, parsed and validated by the decorators of
 * the class. Unknown keys and read-only fields are ignored.
 *
 * @throws Invalid with all validation errors
 */
export function readBody<T extends object>(schema: new () => T, body: Body): T {
  const instance = plainToInstance(schema, new SentBody(body), {
    excludeExtraneousValues: true,
    exposeUnsetFields: false,
  });
  const errors = errorsIn(instance, schema);
  if (Object.keys(errors).length > 0) throw new Invalid(errors);
  return instance;
}

/** Returns the errors by field, in the order of the fields. */
function errorsIn(instance: object, schema: SchemaClass): FieldErrors {
  const errors = validateSync(instance, {
    stopAtFirstError: true,
    forbidUnknownValues: false,
    validationError: { target: false },
  });
  if (errors.length === 0) return {};
  const byName = new Map(errors.map((error) => [error.property, error]));
  return Object.fromEntries(
    fieldsOf(schema).flatMap(({ name }) => {
      const error = byName.get(name);
      return error ? [[name, textOf(error)]] : [];
    }),
  );
}

function textOf({ property, constraints, contexts, value }: ValidationError): FieldErrors[string] {
  const [refusal] = Object.entries(constraints ?? {});
  if (!refusal) throw new BrokenInvariant(`a validator of ${property} has a message`);
  const [name, text] = refusal;
  const build = messageBuilderOf(contexts?.[name]);
  const message = build ? build(value) : text;
  return typeof message === 'string' ? [message] : message;
}
