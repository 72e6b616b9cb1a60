import * as schedules from '../../../src/schedules/schedules.repository.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

const OUTCOME = { id: 1, nextRun: null, occurrence: new Date(0), explanation: '' };

export default {
  repositories: [
    samplesOf(schedules.SchedulesRepository, {
      names: [[]],
      lockDue: [[10]],
      locked: [[[1]]],
      store: [[[OUTCOME]]],
      namesBeginningWith: [[1, 'Nightly']],
      attach: [
        [1, 'credentials', [2]],
        [1, 'labels', [2]],
        [1, 'instance_groups', [2]],
      ],
    }),
  ],
  fragments: [fragmentsOf(schedules, { nextSchedules: { calls: [[[1], null]], inside: asQuery } })],
} satisfies FeatureSamples;
