import { SystemJobsRepository } from '../../../src/system-jobs/system-jobs.repository.js';
import { REQUESTED, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(SystemJobsRepository, { insertOf: [[[REQUESTED], ['{}']]], started: [[1]] }),
  ],
  fragments: [],
} satisfies FeatureSamples;
