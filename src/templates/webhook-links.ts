import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';

/** Where the service of a template sends its events; an empty text for a template without one. */
export function receiverLink(templates: ResourceDefinition, row: Row): Record<string, string> {
  const { id, webhook_service: service } = row;
  const hasService = typeof service === 'string' && service !== '';
  return { webhook_receiver: hasService ? `${templates.url(id)}${service}/` : '' };
}
