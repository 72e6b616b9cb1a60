import { sql } from '../../../src/database/sql.js';
import * as nodes from '../../../src/workflow-templates/workflow-template-nodes.repository.js';
import { fragmentsOf, type RoomSamples } from './samples.js';

export default {
  repositories: [],
  fragments: [
    fragmentsOf(nodes, {
      isCredentialOfNode: {
        calls: [[sql`1`, 'far']],
        inside: (condition) => sql`SELECT 1 FROM credentials far WHERE ${condition}`,
      },
    }),
  ],
} satisfies RoomSamples;
