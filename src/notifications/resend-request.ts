import { ArrayNotEmpty, ValidateBy, type ValidationArguments } from 'class-validator';
import { FAULTS, noChoice } from '../common/fields/fault-texts.js';
import { DateTime, Json } from '../common/fields/field.js';
import { telling } from '../common/fields/validators.js';
import type { FieldErrors } from '../common/errors/errors.js';
import { isOneOf } from '../common/records.js';
import { EVENT_NAMES } from './message/message-events.js';

/** What a finished record may stand at. */
const OUTCOMES = ['failed', 'successful'];

/** What sending a time range once more takes (docs/decisions/0039). */
export class ResendRequest {
  @DateTime({
    required: true,
    nullable: false,
    help: 'First moment: notifications fired then or later.',
  })
  from!: string;

  /** Null: now. */
  @IsAfter('from')
  @DateTime({ help: 'End, itself not included; absent: now.' })
  to!: string | null;

  @AreOf(OUTCOMES)
  @ArrayNotEmpty({ message: FAULTS.emptyList })
  @Json({ default: ['failed'], help: 'Outcomes to send again: failed, successful.' })
  statuses!: string[];

  /** Empty: all. */
  @AreOf(EVENT_NAMES)
  @Json({ default: [], help: 'Events to send again; empty: all of them. Tests never are.' })
  events!: string[];
}

interface Told {
  object: ResendRequest;
}

/** An instant after that of another field, as far as that is one. */
function IsAfter(other: keyof ResendRequest): PropertyDecorator {
  const validate = (value: unknown, told?: ValidationArguments & Told): boolean =>
    !(momentOf(value) <= momentOf(told?.object[other]));
  return ValidateBy(
    { name: 'isAfter', validator: { validate } },
    { message: 'The end must be after the beginning.' },
  );
}

/** NaN for what is none; it may be anything that JSON can hold. */
const momentOf = (value: unknown): number =>
  typeof value === 'string' ? Date.parse(value) : Number.NaN;

/** Words of a list; those that are none of it are told by their position. */
function AreOf(words: readonly string[]): PropertyDecorator {
  const validate = (items: unknown): boolean =>
    Array.isArray(items) && items.every((item) => isOneOf(words, item));
  return ValidateBy(
    { name: 'areOf', validator: { validate } },
    telling((items: unknown[]) => wordFaults(items, words)),
  );
}

/** Faults of the items by their position (docs/contract/conventions.md#errors). */
function wordFaults(items: readonly unknown[], words: readonly string[]): FieldErrors {
  const faults: FieldErrors = {};
  items.forEach((item, index) => {
    if (typeof item !== 'string') faults[index] = [FAULTS.string];
    else if (!isOneOf(words, item)) faults[index] = [noChoice(item)];
  });
  return faults;
}
