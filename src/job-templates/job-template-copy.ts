import type { CopyContext } from '../common/rest/copy.js';
import type { Row } from '../common/resource/define-resource.js';
import { Forbidden } from '../common/errors/errors.js';
import type { Values } from '../common/rest/hooks.js';
import { resource } from '../common/resource/registry.js';
import { SurveyService } from '../templates/survey.service.js';
import { JobTemplatesRepository } from './job-templates.repository.js';

/**
 * Checks that the caller has permission to use the template's credentials, which are copied with
 * it.
 */
export async function copiedValues(
  original: Row,
  { services, actor }: CopyContext,
): Promise<Values> {
  const ids = await services.find(JobTemplatesRepository).credentialsOf(original.id);
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

/**
 * Copies credentials, labels, instance groups and survey. Notifications are not copied, and the
 * copy gets a new webhook key.
 */
export async function copyAttachments(
  original: Row,
  copy: Row,
  { services }: CopyContext,
): Promise<void> {
  await services.find(JobTemplatesRepository).copyAttachments(original.id, copy.id);
  await services.find(SurveyService).copy(original, copy.id);
}
