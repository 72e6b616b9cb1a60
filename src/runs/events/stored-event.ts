import type { EventRow, StoredEvent } from './job-events.repository.js';

/** Writes the data of an event down, once for all that is done with it. */
export const storedEvent = (event: EventRow): StoredEvent => ({
  ...event,
  dataText: JSON.stringify(event.eventData),
});
