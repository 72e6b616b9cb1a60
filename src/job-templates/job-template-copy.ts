import type { CopyContext } from '../common/rest/copy.js';
import type { Row } from '../common/resource/define-resource.js';
import { Forbidden } from '../common/errors/errors.js';
import type { Values } from '../common/rest/hooks.js';
import { resource } from '../common/resource/registry.js';
import { sql } from '../database/sql.js';
import { SurveyService } from '../templates/survey.service.js';

/** Whoever copies a template gets its credentials with it: he must be allowed to use them. */
export async function copiedValues(
  original: Row,
  { services, actor }: CopyContext,
): Promise<Values> {
  const links = await services.database.rows<{ credential_id: number }>(sql`
    SELECT credential_id FROM job_template_credentials WHERE job_template_id = ${original.id}`);
  const ids = links.map(({ credential_id: id }) => id);
  try {
    const { references } = services;
    await references.assertAllowed(resource('credential'), ids, 'use', actor);
  } catch (error) {
    throw error instanceof Forbidden
      ? new Forbidden('Insufficient access to Job Template credentials.')
      : error;
  }
  return {};
}

/** Credentials, labels, instance groups and survey. Notifications are not copied, and the webhook key is a new one. */
export async function copyAttachments(
  original: Row,
  copy: Row,
  { services }: CopyContext,
): Promise<void> {
  const { database } = services;
  await database.execute(sql`
    INSERT INTO job_template_credentials (job_template_id, credential_id)
    SELECT ${copy.id}, credential_id FROM job_template_credentials
    WHERE job_template_id = ${original.id} ORDER BY id`);
  await database.execute(sql`
    INSERT INTO job_template_labels (job_template_id, label_id)
    SELECT ${copy.id}, label_id FROM job_template_labels WHERE job_template_id = ${original.id}`);
  await database.execute(sql`
    INSERT INTO job_template_instance_groups (job_template_id, instance_group_id)
    SELECT ${copy.id}, instance_group_id FROM job_template_instance_groups
    WHERE job_template_id = ${original.id} ORDER BY id`);
  await services.find(SurveyService).copy(original, copy.id);
}
