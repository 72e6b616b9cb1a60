import { BadRequest, Forbidden } from '../common/errors/errors.js';
import type { ResourceDefinition } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import type { LinkContext, SubListSpec } from '../common/rest/sublist.js';
import { attached, children } from '../common/rest/sublist-kinds.js';

/**
 * `notification_templates_<event>/` of anything that fires notifications
 * (docs/contract/notifications.md#attaching). Attaching and detaching need the right to change the
 * notification template, and on the parent what its policy calls `attach_notifications`, or reading
 * where it has no such action. A template created here belongs to the organization its body names;
 * below an organization, to that one.
 */
export const attachNotifications =
  () =>
  (definition: ResourceDefinition, name: string): SubListSpec => {
    const spec = attached(name, {
      needs: definition.policy.actions?.attach_notifications ? 'attach_notifications' : 'read',
      childNeeds: 'change',
      create: (parent) => (definition.type === 'organization' ? { organization: parent.id } : {}),
      authoriseAttach: assertMayChangeSome,
    })(definition, name);
    return {
      ...spec,
      detach: async (context, child) => {
        const { services, actor } = context;
        await services.references.assertAllowed(spec.target(), [child.id], 'change', actor);
        await spec.detach?.(context, child);
      },
    };
  };

/** Who may make notification templates may change those of the same organizations. */
async function assertMayChangeSome({ services, actor }: LinkContext): Promise<void> {
  const mayAdd = await services.resources.mayAdd(resource('notification_template'), actor);
  if (!mayAdd) throw new Forbidden();
}

/**
 * `organizations/<id>/notification_templates/`: what belongs to an organization. `{id}` of one that
 * does is accepted again; attaching never moves one from another organization, and none can be
 * without.
 */
export const ownedNotifications =
  () =>
  (definition: ResourceDefinition, name: string): SubListSpec => ({
    ...children('notification_templates')(definition, name),
    attach: async ({ parent }, child) => {
      if (child.organization_id !== parent.id) {
        throw new BadRequest(
          'The notification template belongs to another organization: change its organization instead.',
        );
      }
    },
  });
