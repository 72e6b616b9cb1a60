import { Choices } from '../common/fields/field.js';
import { labelOf } from '../common/fields/label.js';
import { EVENT_NAMES } from './message/message-events.js';

/** Body of a test request (docs/contract/notifications.md#test); other keys are ignored. */
export class TestRequest {
  @Choices(EVENT_NAMES.map((name) => [name, labelOf(name)] as const), {
    help: 'Send the message of this event, about an invented run, instead of the plain test text.',
  })
  event!: string;
}
