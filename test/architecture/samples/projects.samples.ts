import { ProjectUpdatesRepository } from '../../../src/projects/project-updates.repository.js';
import { ProjectsRepository } from '../../../src/projects/projects.repository.js';
import { REQUESTED, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(ProjectsRepository, {
      storeSync: [
        [
          1,
          { scm_type: 'git', scm_url: 'https://x.invalid/x', scm_branch: '' },
          { scm_revision: 'a', playbook_files: ['b.yml'], inventory_files: [] },
        ],
      ],
      isPathTaken: [[1, 'demo']],
      overridingTemplates: [[1]],
      templatesOf: [[1]],
      moveTemplates: [[1, 2]],
    }),
    samplesOf(ProjectUpdatesRepository, {
      insertOf: [[[REQUESTED]]],
      started: [[1]],
      removeOf: [[1]],
    }),
  ],
  fragments: [],
} satisfies FeatureSamples;
