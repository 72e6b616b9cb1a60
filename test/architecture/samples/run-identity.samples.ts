import { SigningKeysRepository } from '../../../src/run-identity/signing-keys.repository.js';
import { samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [samplesOf(SigningKeysRepository, { all: [[]], lock: [[]] })],
  fragments: [],
} satisfies FeatureSamples;
