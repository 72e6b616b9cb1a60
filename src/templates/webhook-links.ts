import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';

/** Returns the link of a template's webhook receiver; empty for a template without a service. */
export function receiverLink(templates: ResourceDefinition, row: Row): Record<string, string> {
  const { id, webhook_service: service } = row;
  const hasService = typeof service === 'string' && service !== '';
  return { webhook_receiver: hasService ? `${templates.url(id)}${service}/` : '' };
}
