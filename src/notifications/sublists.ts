import type { SubListSpec } from '../common/resource/sublist.js';
import { attached } from '../common/resource/sublist-kinds.js';
import type { ResourceDefinition } from '../common/resource/define-resource.js';

/**
 * `notification_templates_<event>/` of anything that fires notifications (automation 3.10, 3.11).
 * Attaching and detaching need the right to change the notification template, and on the parent
 * what its policy calls `attach_notifications`, or reading where it has no such action. A template
 * created here belongs to the organization its body names; below an organization, to that one.
 */
export const attachNotifications =
  () =>
  (definition: ResourceDefinition, name: string): SubListSpec => {
    const spec = attached(name, {
      needs: definition.policy.actions?.attach_notifications ? 'attach_notifications' : 'read',
      childNeeds: 'change',
      create: (parent) => (definition.type === 'organization' ? { organization: parent.id } : {}),
    })(definition, name);
    return {
      ...spec,
      detach: async (context, child) => {
        const { machinery, actor } = context;
        await machinery.references.assertAllowed(spec.target(), [child.id], 'change', actor);
        await spec.detach?.(context, child);
      },
    };
  };
