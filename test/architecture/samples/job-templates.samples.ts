import { JobTemplateCredentialsRepository } from '../../../src/job-templates/job-template-credentials.repository.js';
import * as templates from '../../../src/job-templates/job-templates.repository.js';
import { CALLER } from './actors.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(JobTemplateCredentialsRepository, { attach: [[1, 2]] }),
    samplesOf(templates.JobTemplatesRepository, {
      launchable: [
        [[1], CALLER],
        [[1], null],
      ],
      sliceCount: [[1, 3, 5]],
      project: [[1]],
      credentialsOf: [[1]],
      withAttached: [[1, 2]],
      copyAttachments: [[1, 2, CALLER]],
    }),
  ],
  fragments: [
    fragmentsOf(templates, {
      inventoriesOfTemplates: { calls: [[[1]]], inside: asQuery },
      shownCredentialsOf: { calls: [[[1], CALLER]], inside: asQuery },
      credentialsOfTemplates: { calls: [[[1]]], inside: asQuery },
    }),
  ],
} satisfies FeatureSamples;
