import { InventorySourcesRepository } from '../../../src/inventory-sources/inventory-sources.repository.js';
import { InventoryUpdatesRepository } from '../../../src/inventory-sources/inventory-updates.repository.js';
import { CALLER } from './actors.js';
import { REQUESTED, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(InventorySourcesRepository, {
      inventory: [[1]],
      project: [[1]],
      projectFiles: [[1]],
      insertHidden: [[{ type: 'inventory_source', name: 'Source', inventory_id: 1 }]],
      hiddenOf: [[[1]]],
      copyOptions: [[1, 2]],
      storeCredential: [[1, null]],
      startable: [[[1]]],
      startableOf: [[1]],
      due: [[[1]]],
    }),
    samplesOf(InventoryUpdatesRepository, {
      insertOf: [[[REQUESTED]]],
      started: [[1]],
      complete: [[[1], CALLER]],
      storeProjectUpdate: [[{ id: 1, attempt: 2 }, 3]],
      removeOf: [[1]],
    }),
  ],
  fragments: [],
} satisfies FeatureSamples;
