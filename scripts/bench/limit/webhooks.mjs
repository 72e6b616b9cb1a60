/** Deliveries: a statement for the template, and a statement for everything that the delivery creates. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** @typedef {import('./routes.d.mts').Write} Write */

const TEMPLATE = `SELECT webhook_key FROM unified_job_templates
  WHERE id = $1 AND type = 'job_template' AND webhook_service = 'service_a'`;

const DELIVER = `
  WITH delivery AS (
    INSERT INTO webhook_deliveries (template_id, service, event, guid, ref, ref_name, head_ref,
      status_api, push_ref, payload, verdict, answer, size, source, job_id, dedupe_key)
    VALUES ($1, 'service_a', $2, $3, $4, $5, $4, $6, $5, $7, 'accepted', 202, $8, $9,
      nextval('unified_jobs_id_seq'), 'guid:' || $3)
    ON CONFLICT DO NOTHING RETURNING id, job_id),
  run AS (
    INSERT INTO unified_jobs (id, type, name, status, launch_type, unified_job_template_id,
      job_template_id, organization_id, inventory_id, project_id, playbook, job_type, extra_vars,
      allow_simultaneous, webhook_service, webhook_guid, webhook_delivery_id, launch_config)
    SELECT delivery.job_id, 'job', t.name, 'pending', 'webhook', t.id, t.id, t.organization_id,
      t.inventory_id, t.project_id, t.playbook, t.job_type, t.extra_vars, t.allow_simultaneous,
      'service_a', $3, delivery.id, '{}'
    FROM delivery, unified_job_templates t WHERE t.id = $1
    RETURNING id, name, organization_id),
  credential AS (
    INSERT INTO job_credentials (job_id, credential_id)
    SELECT run.id, link.credential_id
    FROM run, job_template_credentials link WHERE link.job_template_id = $1),
  logged AS (
    INSERT INTO activity_stream (operation, object1, object1_id, object1_name, organization_id,
      parent_type, parent_id, changes)
    SELECT 'create', 'job', run.id, run.name, run.organization_id, 'job_template', $1,
      json_build_object('id', run.id, 'name', run.name, 'launch_type', 'webhook') FROM run)
  SELECT id, job_id FROM delivery`;

const DUPLICATE = `
  WITH known AS (
    SELECT id, job_id FROM webhook_deliveries
    WHERE template_id = $1 AND service = 'service_a' AND dedupe_key = 'guid:' || $3::text)
  INSERT INTO webhook_deliveries (template_id, service, event, guid, ref, ref_name, verdict, reason,
    answer, size, source, job_id)
  SELECT $1, 'service_a', $2, $3, $4, $5, 'duplicate', 'Delivery ' || known.id || ' had the same id.',
    202, $6, $7, known.job_id FROM known
  RETURNING id, job_id`;

/** @param {import('./routes.d.mts').Objects} objects @returns {[string, Write][]} */
export const webhookRoutes = ({ template, webhookKey }) => [
  [
    `/api/v2/job_templates/${template}/service_a/`,
    async ({ headers, body }, pool) => {
      // The column contains the encrypted key. Only the product decrypts the key.
      await pool.query({ name: 'template', text: TEMPLATE, values: [template] });
      const expected = `sha256=${createHmac('sha256', String(webhookKey)).update(body).digest('hex')}`;
      const signature = String(headers['x-service-a-signature-256']);
      if (!timingSafeEqual(Buffer.from(expected), Buffer.from(signature))) {
        return { status: 403, body: { detail: 'The signature is wrong.' } };
      }
      const text = body.toString();
      const { ref, after, repository } = JSON.parse(text);
      const event = [
        template,
        headers['x-service-a-event'],
        headers['x-service-a-delivery'],
        after,
        ref,
      ];
      const statuses = repository.statuses_url.replace('{sha}', after);
      const size = body.length;
      const source = '127.0.0.1';
      const { rows } = await pool.query({
        name: 'deliver',
        text: DELIVER,
        values: [...event, statuses, text, size, source],
      });
      const [created] = rows;
      if (created) return responseOf('Job queued.', created);
      const repeated = await pool.query({
        name: 'duplicate',
        text: DUPLICATE,
        values: [...event, size, source],
      });
      return responseOf('Webhook previously received, aborting.', repeated.rows[0]);
    },
  ],
];

/** @param {string} message @param {{ id: number, job_id: number }} delivery */
const responseOf = (message, { id, job_id: job }) => ({
  status: 202,
  body: { message, delivery: id, job, url: `/api/v2/jobs/${job}/` },
});
