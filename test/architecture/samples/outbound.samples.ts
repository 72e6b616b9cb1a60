import { BreakersRepository } from '../../../src/outbound/breakers.repository.js';
import { samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(BreakersRepository, {
      statesOf: [[['https://host']]],
      viewsOf: [[['https://host']]],
      countFailure: [['https://host']],
      takeProbe: [['https://host']],
      countOpen: [[]],
    }),
  ],
  fragments: [],
} satisfies FeatureSamples;
