import * as installation from '../../../src/settings/installation.repository.js';
import * as settings from '../../../src/settings/settings.repository.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(settings.SettingsRepository, {
      of: [[['PAGE_SIZE']]],
      names: [[]],
      lock: [[]],
      store: [['PAGE_SIZE', 10]],
      forget: [[['PAGE_SIZE']]],
    }),
    samplesOf(installation.InstallationRepository, { recordOnce: [['demo_data']], uuid: [[]] }),
  ],
  fragments: [
    fragmentsOf(installation, { installationUuid: [[]] }),
    fragmentsOf(settings, { changedSetting: { calls: [['PAGE_SIZE']], inside: asQuery } }),
  ],
} satisfies FeatureSamples;
