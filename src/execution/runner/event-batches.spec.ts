import { EventBatches } from './event-batches.js';

it('EventBatches completes a batch by its number of events, or by the size of the output', async () => {
  const sizes: number[] = [];
  const batches = new EventBatches((batch) => void sizes.push(batch.length), {
    ...{ maxEvents: 3, maxDelayMs: 60_000, maxInFlight: 4 },
    ...{ onFlow: () => undefined, onError: () => undefined },
  });
  const event = { uuid: 'u', counter: 1, event: 'verbose' };
  batches.add([event, event, event, event], 100);
  expect(sizes).toEqual([3]);
  for (let chunk = 0; chunk < 16; chunk += 1) batches.add([], 64 * 1024);
  expect(sizes).toEqual([3, 1]);
  batches.add([event], 1000);
  expect(sizes).toEqual([3, 1]);
  await batches.drain();
  expect(sizes).toEqual([3, 1, 1]);
});
