import { AdHocCommandsRepository } from '../../../src/ad-hoc-commands/ad-hoc-commands.repository.js';
import { samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [samplesOf(AdHocCommandsRepository, { context: [[1]] })],
  fragments: [],
} satisfies FeatureSamples;
