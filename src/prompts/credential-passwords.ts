import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { FAULTS } from '../common/fields/fault-texts.js';
import { Json, type FieldOptions } from '../common/fields/field.js';
import { SentBody } from '../common/fields/sent-body.js';
import { isStorable } from '../common/fields/text.js';
import { withMessage } from '../common/fields/validators.js';

/** Names of passwords that can also be at the top level of a body, as old clients send them. */
const PASSWORD_NAME =
  /^(?:ssh_password|become_password|ssh_key_unlock|vault_password(?:\.[^\0]{1,1024})?)$/;

type Passwords = Readonly<Record<string, unknown>>;

/** Declares the passwords of a launch by name, including passwords at the top level of the body. */
export const CredentialPasswords = (options: FieldOptions = {}): PropertyDecorator =>
  applyDecorators(
    // class-transformer applies the transform first that was declared last.
    Transform(({ obj, value }: { obj: unknown; value: unknown }) => {
      const isNull = value === null && options.nullable !== true;
      return isNull ? null : withTopLevel(obj, value);
    }),
    Json({
      column: null,
      filter: false,
      help: 'Answers to passwords_needed_to_start, by name.',
      ...options,
    }),
    ValidateBy(
      {
        name: 'arePasswords',
        validator: { validate: (passwords: Passwords) => faultOf(passwords) === null },
      },
      withMessage((passwords: Passwords) => faultOf(passwords) ?? ''),
    ),
  );

/** Values that are not objects pass unchanged, for the validators to refuse. */
function withTopLevel(sent: unknown, nested: unknown): unknown {
  const topLevel = sent instanceof SentBody ? passwordsIn(sent.body) : {};
  if (nested === null || nested === undefined) return topLevel;
  return typeof nested === 'object' && !Array.isArray(nested) ? { ...topLevel, ...nested } : nested;
}

/** Returns the passwords of a body. A text that cannot be stored becomes null, which the validators refuse. */
const passwordsIn = (body: Passwords): Passwords =>
  Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => PASSWORD_NAME.test(name))
      .map(([name, value]) => [name, isPassword(value) ? value : null]),
  );

const isPassword = (value: unknown): boolean => typeof value === 'string' && isStorable(value);

function faultOf(passwords: Passwords): string | null {
  const wrong = Object.entries(passwords).find(([, value]) => !isPassword(value));
  return wrong ? `${wrong[0]}: ${FAULTS.string}` : null;
}
