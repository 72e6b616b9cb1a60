import * as forwarding from '../../../src/logging/log-forwarding.repository.js';
import { samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(forwarding.LogForwardingRepository, {
      takeLease: [['worker', 30]],
      release: [['worker']],
      addDropped: [[3]],
      dropped: [[]],
    }),
  ],
  fragments: [],
} satisfies FeatureSamples;
