import { DueSchedules } from './due-schedules.service.js';
import type { SchedulesRepository } from './schedules.repository.js';

it('a pass reads schedules up to a maximum size, at least one', async () => {
  const read = async (sizes: readonly number[]): Promise<readonly number[]> => {
    let ids: readonly number[] = [];
    const schedules = {
      lockDue: async () => sizes.map((size, id) => ({ id, size })),
      locked: async (asked: readonly number[]) => {
        ids = asked;
        return [];
      },
      store: async () => undefined,
    } as unknown as SchedulesRepository;
    const runs = { countActive: async () => new Map(), linkToSchedules: async () => undefined };
    const settings = { get: async () => ({ SCHEDULE_MAX_JOBS: 10 }) };
    const launchers = { launchPossible: async () => [] };
    const next = { refresh: async () => undefined };
    const parts = [runs, schedules, {}, settings, launchers, next] as never[];
    const due = Reflect.construct(DueSchedules, parts) as DueSchedules;
    expect(await due.launchDue()).toBe(true);
    return ids;
  };
  expect(await read([1, 2, 3])).toEqual([0, 1, 2]);
  expect(await read([3_000_000, 3_000_000, 3_000_000, 1])).toEqual([0, 1]);
  expect(await read([9_000_000, 1])).toEqual([0]);
});
