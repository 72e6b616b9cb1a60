import { JobTemplateCredentialsRepository } from '../../../src/job-templates/job-template-credentials.repository.js';
import { samplesOf, type RoomSamples } from './samples.js';

export default {
  repositories: [samplesOf(JobTemplateCredentialsRepository, { attach: [[1, 2]], isUsed: [[1]] })],
  fragments: [],
} satisfies RoomSamples;
