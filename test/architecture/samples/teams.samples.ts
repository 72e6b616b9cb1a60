import { CALLER } from './actors.js';
import { sql } from '../../../src/database/sql.js';
import { TeamsRepository } from '../../../src/teams/teams.repository.js';
import { samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(TeamsRepository, {
      referenced: [[1]],
      nameQuery: [[sql`1`, CALLER]],
      outsideOrganization: [
        [sql`SELECT 1`, 2],
        [sql`SELECT 1`, null],
      ],
    }),
  ],
  fragments: [],
} satisfies FeatureSamples;
