import { withDatabase } from './world.mjs';

/** @typedef {import('./types.d.mts').World} World */

const EARLIER = 10_000;

/**
 * The objects of the demo: a template that runs a playbook of a manual project on one host.
 *
 * @param {World} world
 * @param {import('./types.d.mts').Call} call
 * @param {object} fields of the template to be changed
 * @returns {Promise<{ template: import('./types.d.mts').Answer, inventory: number }>}
 */
export async function makeTemplate({ cli }, call, fields = {}) {
  await cli('demo-data');
  const { results } = await call('GET', 'job_templates/');
  const template = await call('PATCH', `job_templates/${results[0].id}/`, {
    allow_simultaneous: true,
    ...fields,
  });
  return { template, inventory: template.inventory };
}

/**
 * Runs and deliveries from before, as a server has them that was not set up a minute ago. A connection
 * that plans how to look up a reference while the table is empty reads all of it each time from then on:
 * autovacuum, after which it would plan anew, is off here.
 *
 * @param {World} world
 * @param {number} template
 */
export const addEarlier = ({ environment }, template) =>
  withDatabase(environment.DATABASE_URL, async (client) => {
    await client.query(
      `WITH delivery AS (
         INSERT INTO webhook_deliveries (template_id, service, event, guid, verdict, answer, size,
           source, dedupe_key)
         SELECT $1, 'service_a', 'push', 'earlier-' || n, 'accepted', 202, 8192, '127.0.0.1',
           'guid:earlier-' || n
         FROM generate_series(1, $2::int) n RETURNING id)
       INSERT INTO unified_jobs (type, name, status, launch_type, unified_job_template_id,
         job_template_id, job_type, playbook, extra_vars, webhook_delivery_id, finished)
       SELECT 'job', 'earlier', 'successful', 'webhook', $1, $1, 'run', 'site.yml', '{}', id, now()
       FROM delivery`,
      [template, EARLIER],
    );
    await client.query('VACUUM ANALYZE');
  });
