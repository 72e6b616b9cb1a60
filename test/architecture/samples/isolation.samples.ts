import * as isolations from '../../../src/instances/live-isolations.repository.js';
import * as organizations from '../../../src/organizations/several-organizations.repository.js';
import { fragmentsOf, type RoomSamples } from './samples.js';

export default {
  repositories: [],
  fragments: [
    fragmentsOf(isolations, {
      liveIsolations: { calls: [[]], inside: (statement) => statement },
    }),
    fragmentsOf(organizations, {
      severalOrganizations: { calls: [[]], inside: (statement) => statement },
    }),
  ],
} satisfies RoomSamples;
