import * as installation from '../../../src/settings/installation.repository.js';
import { SettingsRepository } from '../../../src/settings/settings.repository.js';
import { fragmentsOf, samplesOf, type RoomSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(SettingsRepository, {
      of: [[['PAGE_SIZE']]],
      names: [[]],
      store: [['PAGE_SIZE', 10]],
      forget: [[['PAGE_SIZE']]],
    }),
    samplesOf(installation.InstallationRepository, { once: [['demo_data']], uuid: [[]] }),
  ],
  fragments: [fragmentsOf(installation, { installationUuid: [[]] })],
} satisfies RoomSamples;
