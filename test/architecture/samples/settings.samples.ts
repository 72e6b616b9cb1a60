import { InstallationRepository } from '../../../src/settings/installation.repository.js';
import { SettingsRepository } from '../../../src/settings/settings.repository.js';
import { samplesOf, type RoomSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(SettingsRepository, {
      of: [[['PAGE_SIZE']]],
      names: [[]],
      store: [['PAGE_SIZE', 10]],
      forget: [[['PAGE_SIZE']]],
    }),
    samplesOf(InstallationRepository, { uuid: [[]], once: [['demo_data']] }),
  ],
  fragments: [],
} satisfies RoomSamples;
