import { sql } from '../../../src/database/sql.js';
import * as templates from '../../../src/templates/templates.repository.js';
import { CALLER } from './actors.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

const COMING = sql`SELECT 1 AS template_id, 2 AS id, now() AS next_run`;
const RUNS = [{ id: 1, status: 'running', unified_job_template_id: 2 }];

export default {
  repositories: [
    samplesOf(templates.TemplatesRepository, {
      named: [[[1], CALLER]],
      typesOf: [[[1]]],
      receiving: [[[1]]],
      storeSurvey: [[1, null]],
      removeInventory: [[1]],
      moveSources: [[1, 2]],
      replaceKey: [[1, 'sealed']],
      lock: [[[1]]],
      showNextLaunches: [[COMING]],
      showCreated: [[RUNS]],
      showMoved: [[RUNS]],
      showEnded: [[RUNS, true]],
    }),
  ],
  fragments: [
    fragmentsOf(templates, {
      surveyHeads: { calls: [[[1]]], inside: asQuery },
      templateVariables: { calls: [[]], inside: asQuery },
      templateNames: { calls: [[]], inside: asQuery },
      inventoryOf: { calls: [[sql`1`]], inside: asQuery },
      templatesWithRights: { calls: [[[1], CALLER]], inside: asQuery },
      receivedServices: { calls: [[]], inside: asQuery },
      templateExcludesGroups: [[sql`1`]],
      retentionOfTemplates: { calls: [[]], inside: asQuery },
      projectSources: { calls: [[]], inside: asQuery },
      notificationsOfTemplates: { calls: [[]], inside: asQuery },
    }),
  ],
} satisfies FeatureSamples;
