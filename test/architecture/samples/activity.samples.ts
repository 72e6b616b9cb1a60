import { ActivityRepository } from '../../../src/activity/activity.repository.js';
import { samplesOf, type RoomSamples } from './samples.js';

const ENTRY = {
  operation: 'create' as const,
  object1: { type: 'team', id: 1, name: 'Ops' },
  changes: {},
};

export default {
  repositories: [
    samplesOf(ActivityRepository, {
      described: [[[1]]],
      record: [
        [[ENTRY], { id: 1, username: 'ada' }],
        [[ENTRY], null],
      ],
    }),
  ],
  fragments: [],
} satisfies RoomSamples;
