import type { LogLines } from '../../logging/log-lines.service.js';
import type { Settings } from '../../config/settings.js';
import type { JobEventsRepository } from '../../runs/events/job-events.repository.js';
import type { RunSignals } from '../../runs/run-signals.service.js';
import { toEventRow } from '../runner/events.js';
import { ActiveRun } from './active-runs.service.js';
import { EventStore } from './event-store.service.js';

const passing = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

it('EventStore writes and counts the data of an event once, however often the event is stored', async () => {
  let written = 0;
  const data = { toJSON: () => ({ written: (written += 1) }) };
  const row = toEventRow({ uuid: 'u', counter: 1, event: 'verbose' });
  const received: unknown[] = [];
  const answers = [passing, new Error('refused'), true];
  const repository = {
    store: async (_: unknown, [event]: readonly unknown[]) => {
      received.push(event);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    },
  } as unknown as JobEventsRepository;
  const limits = { JOB_EVENTS: 1, JOB_EVENT_BYTES: 1000 } as Settings;
  const signals = { announce: () => undefined } as unknown as RunSignals;
  const run = new ActiveRun(1, 1);
  const logs = { wants: () => false } as unknown as LogLines;
  const store = new EventStore(repository, signals, limits, logs);
  await store.store(run, [{ ...row, eventData: data }]);
  expect(received).toHaveLength(3);
  for (const event of received)
    expect(event).toMatchObject({ counter: 1, dataText: '{"written":1}' });
  expect({ written, reason: run.reason }).toEqual({ written: 1, reason: null });
});
