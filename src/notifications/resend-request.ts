import { DateTime, fieldsOf, Json } from '../common/fields/field.js';
import { validate } from '../common/fields/validate.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { EVENT_NAMES } from './message/message-events.js';

/** What a finished record may stand at. */
const OUTCOMES = ['failed', 'successful'];

class ResendRequestSchema {
  @DateTime({
    required: true,
    nullable: false,
    help: 'First moment: notifications fired then or later.',
  })
  from!: string;

  @DateTime({ help: 'End, itself not included; absent: now.' })
  to!: string | null;

  @Json({ default: ['failed'], help: 'Outcomes to send again: failed, successful.' })
  statuses!: string[];

  @Json({ default: [], help: 'Events to send again; empty: all of them. Tests never are.' })
  events!: string[];
}

/** What sending a time range once more takes (docs/decisions/0039). */
export const RESEND_FIELDS = fieldsOf(ResendRequestSchema);

export interface ResendRange {
  from: string;
  /** Null: now. */
  to: string | null;
  statuses: string[];
  /** Empty: all. */
  events: string[];
}

/** @throws Invalid */
export function readRange(body: Record<string, unknown>): ResendRange {
  const range = validate(RESEND_FIELDS, body) as unknown as ResendRange;
  const errors: FieldErrors = {
    ...choiceErrors('statuses', range.statuses, OUTCOMES),
    ...choiceErrors('events', range.events, EVENT_NAMES),
  };
  if (range.statuses.length === 0) errors.statuses = ['This list may not be empty.'];
  if (range.to !== null && Date.parse(range.to) <= Date.parse(range.from)) {
    errors.to = ['The end must be after the beginning.'];
  }
  if (Object.keys(errors).length > 0) throw new Invalid(errors);
  return range;
}

/** Faults of the items by their position (docs/contract/conventions.md#errors). */
function choiceErrors(
  field: string,
  items: readonly unknown[],
  allowed: readonly string[],
): FieldErrors {
  const faults: FieldErrors = {};
  items.forEach((item, index) => {
    if (typeof item !== 'string') faults[index] = ['Not a valid string.'];
    else if (!allowed.includes(item)) faults[index] = [`"${item}" is not a valid choice.`];
  });
  return Object.keys(faults).length > 0 ? { [field]: faults } : {};
}
