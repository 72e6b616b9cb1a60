import { exactJson } from '../../common/exact-json.js';
import type { EventRow, StoredEvent } from './job-events.repository.js';

/** Writes the data of an event down, once for all that is done with it. */
export const storedEvent = (event: EventRow): StoredEvent => ({
  ...event,
  dataText: exactJson(event.eventData),
});
