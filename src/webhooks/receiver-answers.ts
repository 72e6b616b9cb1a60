import { described, object, STRING, WIDE_INTEGER } from '../common/fields/json-schema.js';
import type { AlternativeAnswer } from '../common/rest/route.js';

/** JSON schema of responses to deliveries (docs/contract/webhooks.md#answers). */
export const RECEIVER_ANSWER = object(
  {
    message: described(STRING, 'Outcome, as a sentence.'),
    delivery: { ...WIDE_INTEGER, description: 'Record of this delivery.' },
    job: { ...WIDE_INTEGER, description: 'The run that it launched.' },
    url: { ...STRING, description: 'Path of that run.' },
  },
  ['delivery', 'job', 'url'],
);

/** Response to a delivery that is recorded and launches nothing. */
export const RECEIVER_IGNORED: readonly AlternativeAnswer[] = [
  { status: 200, description: 'Recorded and ignored.', response: RECEIVER_ANSWER },
];
