import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';

/** Where the service of a template sends its events; nothing for a template without one. */
export function receiverLink(templates: ResourceDefinition, row: Row): Record<string, string> {
  const { id, webhook_service: service } = row;
  return typeof service === 'string' && service !== ''
    ? { webhook_receiver: `${templates.url(id)}${service}/` }
    : {};
}
