import { SigningKeysRepository } from '../../../src/run-identity/signing-keys.repository.js';
import { samplesOf, type RoomSamples } from './samples.js';

export default {
  repositories: [samplesOf(SigningKeysRepository, { all: [[]], lock: [[]] })],
  fragments: [],
} satisfies RoomSamples;
