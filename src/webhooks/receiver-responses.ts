import * as json from '../common/fields/json-schema.js';
import type { AlternativeResponse } from '../common/rest/route.js';
import type { Verdict } from './delivery.js';
import type { ReceiverKind } from './receiver-kinds.js';

const DUPLICATE = 'Webhook previously received, aborting.';
export const IGNORED = 'Webhook ignored';

/** Returns the message to the sender of a delivery. The message for a launch depends on the kind of template. */
export const responseMessage = (
  verdict: Exclude<Verdict, 'rejected'>,
  { queuedMessage }: Pick<ReceiverKind, 'queuedMessage'>,
): string => ({ accepted: queuedMessage, duplicate: DUPLICATE, ignored: IGNORED })[verdict];

/** JSON schema of responses to deliveries (docs/contract/webhooks.md#responses). */
export const RECEIVER_RESPONSE = json.object(
  {
    message: json.described(json.STRING, 'Outcome, as a sentence.'),
    delivery: { ...json.WIDE_INTEGER, description: 'Id of the delivery.' },
    job: { ...json.WIDE_INTEGER, description: 'Id of the run that the delivery launched.' },
    url: { ...json.STRING, description: 'Path of the run.' },
  },
  ['delivery', 'job', 'url'],
);

/** Response to a delivery that is recorded and launches nothing. */
export const RECEIVER_IGNORED: readonly AlternativeResponse[] = [
  { status: 200, description: 'Recorded and ignored.', response: RECEIVER_RESPONSE },
];
