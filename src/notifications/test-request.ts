import { Choices, fieldsOf } from '../common/fields/field.js';
import { APPROVAL_EVENTS, RUN_EVENTS, type MessageEvent } from './message/message-events.js';

const EVENTS: ReadonlyMap<string, MessageEvent> = new Map<string, MessageEvent>([
  ...RUN_EVENTS.map((event) => [event, { event }] as const),
  ...APPROVAL_EVENTS.map(
    (approval) =>
      [`workflow_approval.${approval}`, { event: 'workflow_approval', approval }] as const,
  ),
]);

/** Names of all events that have a message, `workflow_approval.running` among them. */
export const MESSAGE_EVENTS: readonly string[] = [...EVENTS.keys()];

class TestRequestSchema {
  @Choices(MESSAGE_EVENTS.map((name) => [name, name] as const), {
    help: 'Send the message of this event, about an invented run, instead of the plain test text.',
  })
  event!: string;
}

/** What a test may be asked for (automation 3.8); other keys are ignored. */
export const TEST_FIELDS = fieldsOf(TestRequestSchema);

/** The event whose message is to be tried, or null for the plain test text. */
export const eventOf = (word: unknown): MessageEvent | null => EVENTS.get(word as string) ?? null;
