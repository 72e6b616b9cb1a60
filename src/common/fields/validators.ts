import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsBoolean,
  IsDefined,
  IsEmail,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsNumber,
  IsString,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  type ValidationOptions,
} from 'class-validator';
import { type FieldErrors, messageOf } from '../errors/errors.js';
import {
  FAULTS,
  invalidPk,
  noChoice,
  noDictionary,
  noList,
  noPk,
  tooLarge,
  tooLong,
  tooMany,
  tooSmall,
} from './fault-texts.js';
import { memberOf } from '../records.js';
import type { Field } from './field.js';
import { NO_JSON, toTimestamp } from './lenient-reader.js';
import { COLUMN_TYPES, rangeOf } from './column-types.js';
import { isStorable, isStorableJson } from './text.js';
import { areStorableVariables } from './variables.js';

/**
 * Builds an error message that depends on the value: a text, or errors by the position of items.
 */
export type MessageBuilder<Value = unknown> = (value: Value) => string | FieldErrors;

/**
 * Returns the options of a validator whose message quotes the value. `message` does not contain the
 * function, because the library would replace placeholders such as `$value` in the client's text.
 */
export const withMessage = <Value>(build: MessageBuilder<Value>): ValidationOptions => ({
  message: 'Not a valid value.',
  context: { build },
});

const isMessageBuilder = (value: unknown): value is MessageBuilder => typeof value === 'function';

/**
 * Returns the function that builds a validator's message, or undefined if the validator has a fixed
 * message.
 */
export function messageBuilderOf(context: unknown): MessageBuilder | undefined {
  const build = memberOf(context, 'build');
  return isMessageBuilder(build) ? build : undefined;
}

/** Returns the validators of a field in the order in which they run. The first error is reported. */
export const validatorsOf = (field: Field): readonly PropertyDecorator[] => [
  ...presenceOf(field),
  ...rulesOf(field),
];

/** Returns the validators for omitted values and null. */
function presenceOf({ required, nullable }: Field): readonly PropertyDecorator[] {
  const isValidated = (_: object, value: unknown): boolean =>
    value === undefined ? required : value !== null || !nullable;
  const message = ({ value }: { value: unknown }): string =>
    value === null ? FAULTS.null : FAULTS.required;
  return [ValidateIf(isValidated), IsDefined({ message })];
}

function rulesOf(field: Field): readonly PropertyDecorator[] {
  switch (field.kind) {
    case 'string':
    case 'text':
    case 'secret':
      return textRules(field);
    case 'email':
      return [
        ...textRules(field),
        IsEmail({}, { message: FAULTS.email, validateIf: (_, value) => value !== '' }),
      ];
    case 'integer':
      return field.choices.length > 0 ? [IsChoice(field)] : integerRules(field);
    case 'float':
      return [IsNumber({}, { message: FAULTS.number })];
    case 'boolean':
      return [IsBoolean({ message: FAULTS.boolean })];
    case 'choice':
      return [IsChoice(field)];
    case 'datetime':
      return [IsInstant()];
    case 'json':
      return field.entries ? entriesRules() : documentRules(field);
    case 'variables':
      return [IsString({ message: FAULTS.string }), IsStorable(), IsVariables()];
    case 'reference':
      return [IsReference(field)];
  }
}

const textRules = ({ blank, max }: Field): readonly PropertyDecorator[] => [
  IsString({ message: FAULTS.string }),
  IsStorable(),
  ...(blank ? [] : [IsNotEmpty({ message: FAULTS.blank })]),
  ...(max === null ? [] : [MaxCharacters(max)]),
];

function integerRules({ min, max, columnType }: Field): readonly PropertyDecorator[] {
  const range = rangeOf(columnType);
  const lower = min ?? range.min;
  const upper = max ?? range.max;
  return [
    IsInt({ message: FAULTS.integer }),
    Min(lower, { message: tooSmall(lower) }),
    Max(upper, { message: tooLarge(upper) }),
  ];
}

/** Maximum number of entries, regardless of settings. */
const MAX_ENTRIES = 100_000;

const entriesRules = (): readonly PropertyDecorator[] => [
  IsList(),
  ArrayNotEmpty({ message: FAULTS.emptyList }),
  ArrayMaxSize(MAX_ENTRIES, { message: tooMany(MAX_ENTRIES) }),
];

const documentRules = (field: Field): readonly PropertyDecorator[] => [
  IsJson((value) => value !== NO_JSON),
  ...(field.anyShape ? [] : [Array.isArray(field.default) ? IsList() : IsDictionary()]),
  field.target ? AreReferences(field) : IsJson((value) => isStorableJson(value)),
];

/** Verifies that PostgreSQL can store the text. */
const IsStorable = (): PropertyDecorator =>
  ValidateBy(
    { name: 'isStorable', validator: { validate: (text: string) => isStorable(text) } },
    { message: FAULTS.storable },
  );

/**
 * Verifies the length including variation selectors, which the library's `MaxLength` does not count but a
 * storage limit does.
 */
const MaxCharacters = (max: number): PropertyDecorator =>
  ValidateBy(
    { name: 'maxCharacters', validator: { validate: (text: string) => isWithin(text, max) } },
    { message: tooLong(max) },
  );

/**
 * Counts characters only if necessary. A character has at most two UTF-16 units, so a text of more than
 * `2 * max` units is too long.
 */
const isWithin = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= 2 * max && [...text].length <= max);

/**
 * Verifies a choice. The empty text means that no choice was made, and is valid if the field can be blank.
 */
const IsChoice = ({ choices, kind, blank }: Field): PropertyDecorator =>
  IsIn(
    [...choices.map(([value]) => value), ...(kind === 'choice' && blank ? [''] : [])],
    withMessage(noChoice),
  );

/**
 * Verifies a timestamp. The library's `IsISO8601` also accepts weeks and ordinal days, which PostgreSQL
 * does not.
 */
const IsInstant = (): PropertyDecorator =>
  ValidateBy(
    { name: 'isInstant', validator: { validate: (value) => toTimestamp(value) !== undefined } },
    { message: FAULTS.instant },
  );

const IsJson = (validate: (value: unknown) => boolean): PropertyDecorator =>
  ValidateBy({ name: 'isJson', validator: { validate } }, { message: FAULTS.json });

/** Verifies a list. The library's `IsArray` has no message that names the type of the value. */
const IsList = (): PropertyDecorator =>
  ValidateBy({ name: 'isList', validator: { validate: Array.isArray } }, withMessage(noList));

const IsDictionary = (): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isDictionary',
      validator: { validate: (value) => typeof value === 'object' && !Array.isArray(value) },
    },
    withMessage(noDictionary),
  );

const IsVariables = (): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isVariables',
      validator: { validate: (text: string) => sentVariablesFault(text) === null },
    },
    withMessage((text: string) => sentVariablesFault(text) ?? ''),
  );

function sentVariablesFault(text: string): string | null {
  try {
    return areStorableVariables(text) ? null : FAULTS.storable;
  } catch (error) {
    return messageOf(error);
  }
}

/** Returns the greatest possible id of the resource that a field references. */
const greatestId = ({ target }: Field): number =>
  rangeOf(target?.().field('id')?.columnType ?? COLUMN_TYPES.reference).max;

const isReference = (field: Field, id: unknown): boolean =>
  typeof id === 'number' && Number.isInteger(id) && id >= 1 && id <= greatestId(field);

const noReference = (id: unknown): string => (Number.isInteger(id) ? invalidPk(id) : noPk(id));

const IsReference = (field: Field): PropertyDecorator =>
  ValidateBy(
    { name: 'isReference', validator: { validate: (id) => isReference(field, id) } },
    withMessage(noReference),
  );

/** Verifies a list of references. The message names the first invalid id. */
const AreReferences = (field: Field): PropertyDecorator =>
  ValidateBy(
    {
      name: 'areReferences',
      validator: { validate: (ids: unknown[]) => ids.every((id) => isReference(field, id)) },
    },
    withMessage((ids: unknown[]) => noReference(ids.find((id) => !isReference(field, id)))),
  );
