import { sql } from '../../../src/database/sql.js';
import * as templates from '../../../src/templates/templates.repository.js';
import { fragmentsOf, samplesOf, type RoomSamples } from './samples.js';

const COMING = sql`SELECT 1 AS template_id, 2 AS id, now() AS next_run`;

export default {
  repositories: [samplesOf(templates.TemplatesRepository, { showNextLaunches: [[COMING]] })],
  fragments: [
    fragmentsOf(templates, {
      templateNames: {
        calls: [[]],
        inside: (names) => sql`SELECT id, type, name, description FROM ${names} t`,
      },
    }),
  ],
} satisfies RoomSamples;
