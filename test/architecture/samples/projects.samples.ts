import { ProjectUpdatesRepository } from '../../../src/projects/project-updates.repository.js';
import { samplesOf, type RoomSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(ProjectUpdatesRepository, {
      insertOf: [
        [[1], { launchType: 'scheduled', status: 'pending' }],
        [[1, 2], { launchType: 'workflow', status: 'pending', createdBy: [3, null] }],
      ],
      sign: [[[1], { created_by_id: 2 }]],
    }),
  ],
  fragments: [],
} satisfies RoomSamples;
