import { ArrayNotEmpty, ValidateBy, type ValidationArguments } from 'class-validator';
import { FAULTS, noChoice } from '../common/fields/fault-texts.js';
import { Choices, DateTime, Json } from '../common/fields/field.js';
import { labelOf } from '../common/fields/label.js';
import { withMessage } from '../common/fields/validators.js';
import type { FieldErrors } from '../common/errors/errors.js';
import { isOneOf, memberOf } from '../common/records.js';
import { EVENT_NAMES } from './message/message-events.js';

/** Body of a test request (docs/contract/notifications.md#test); other keys are ignored. */
export class TestRequest {
  @Choices(EVENT_NAMES.map((name) => [name, labelOf(name)] as const), {
    help: 'Event whose message is sent, for an example run. Default: the plain test text.',
  })
  event!: string;
}

/** Final statuses of a record. */
const OUTCOMES = ['failed', 'successful'];

/** Request to resend a time range (docs/decisions/0038-notifications.md). */
export class ResendRange {
  @DateTime({
    required: true,
    nullable: false,
    help: 'Start of the range.',
  })
  from!: string;

  /** End of the range; null: now. */
  @IsAfter('from')
  @DateTime({ help: 'End of the range, exclusive. Default: now.' })
  to!: string | null;

  @ItemsIn(OUTCOMES)
  @ArrayNotEmpty({ message: FAULTS.emptyList })
  @Json({ default: ['failed'], help: 'Outcomes to resend: failed, successful.' })
  statuses!: string[];

  /** Events to resend; empty: all. */
  @ItemsIn(EVENT_NAMES)
  @Json({ default: [], help: 'Events to resend. Empty: all events. Tests are never resent.' })
  events!: string[];
}

/** Validates that a time is after that of another field, if that field has a valid time. */
function IsAfter(other: keyof ResendRange): PropertyDecorator {
  const validate = (value: unknown, request?: ValidationArguments): boolean =>
    !(timestampOf(value) <= timestampOf(memberOf(request?.object, other)));
  return ValidateBy(
    { name: 'isAfter', validator: { validate } },
    { message: 'The end must be after the beginning.' },
  );
}

/** Returns NaN for an invalid time; the value can be any JSON. */
const timestampOf = (value: unknown): number =>
  typeof value === 'string' ? Date.parse(value) : Number.NaN;

/** Validates the items of a list; reports invalid items by position. */
function ItemsIn(choices: readonly string[]): PropertyDecorator {
  const validate = (items: unknown): boolean =>
    Array.isArray(items) && items.every((item) => isOneOf(choices, item));
  return ValidateBy(
    { name: 'areOf', validator: { validate } },
    withMessage((items: unknown[]) => choiceErrors(items, choices)),
  );
}

/** Returns the errors of the items by position (docs/contract/conventions.md#errors). */
function choiceErrors(items: readonly unknown[], choices: readonly string[]): FieldErrors {
  const errors: FieldErrors = {};
  items.forEach((item, index) => {
    if (typeof item !== 'string') errors[index] = [FAULTS.string];
    else if (!isOneOf(choices, item)) errors[index] = [noChoice(item)];
  });
  return errors;
}
