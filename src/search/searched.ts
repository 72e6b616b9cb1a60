import { resource } from '../common/resource/registry.js';
import type { ResourceDefinition } from '../common/resource/define-resource.js';

/** Types in the order in which the page shows them. */
const TYPES = [
  'job_template',
  'workflow_job_template',
  'project',
  'inventory',
  'host',
  'group',
  'schedule',
  'credential',
  'notification_template',
  'organization',
  'team',
  'user',
  'label',
  'job',
  'workflow_job',
] as const;

/** Returns the resources of a search. */
export const searched = (): readonly ResourceDefinition[] => TYPES.map((type) => resource(type));
