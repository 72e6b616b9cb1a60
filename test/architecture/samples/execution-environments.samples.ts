import { CALLER } from './actors.js';
import * as environments from '../../../src/execution-environments/execution-environments.repository.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(environments.ExecutionEnvironmentsRepository, { usable: [[[1], CALLER]] }),
  ],
  fragments: [
    fragmentsOf(environments, {
      anyEnvironment: { calls: [[]], inside: (statement) => statement },
      allEnvironments: { calls: [[]], inside: asQuery },
    }),
  ],
} satisfies FeatureSamples;
