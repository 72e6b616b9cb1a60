import { exactJson } from '../../common/exact-json.js';
import type { EventRow, StoredEvent } from './job-events.repository.js';

/** Serializes the data of an event once for all further steps. */
export const storedEvent = (event: EventRow): StoredEvent => ({
  ...event,
  dataText: exactJson(event.eventData),
});
