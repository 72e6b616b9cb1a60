import { BadRequest, Forbidden } from '../common/errors/errors.js';
import { resource, type ResourceDefinition } from '../common/resource/define-resource.js';
import { attached, children, type LinkContext, type SubListSpec } from '../common/rest/sublist.js';

/**
 * Declares the sub-list `notification_templates_<event>/` of a resource with notifications
 * (docs/contract/notifications.md#attaching). To attach or detach, the caller needs permission to
 * change the notification template, and on the parent the permission `attach_notifications` of its
 * policy, or read access if the policy has no such action. A template created in this list belongs to
 * the organization in the request body; below an organization, to that organization.
 */
export const attachNotifications =
  () =>
  (definition: ResourceDefinition, name: string): SubListSpec => {
    const spec = attached(name, {
      needs: definition.policy.actions?.attach_notifications ? 'attach_notifications' : 'read',
      childNeeds: 'change',
      create: (parent) => (definition.type === 'organization' ? { organization: parent.id } : {}),
      authorizeAttach: assertMayChangeTemplates,
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

/** @throws Forbidden unless the caller can create templates of any organization */
async function assertMayChangeTemplates({ services, actor }: LinkContext): Promise<void> {
  const mayAdd = await services.resources.mayAdd(resource('notification_template'), actor);
  if (!mayAdd) throw new Forbidden();
}

/**
 * Declares the sub-list `organizations/<id>/notification_templates/` of an organization's templates.
 * A POST with the `{id}` of a template of the organization succeeds. Attaching never moves a template
 * from another organization, and a template always has an organization.
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
