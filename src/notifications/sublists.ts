import { attached } from '../common/resource/sublist.js';

/**
 * `notification_templates_<event>/` of anything that fires notifications (automation 3.10). The
 * caller must be able to change the notification template, and to read the parent, or what the
 * parent's policy calls `attach_notifications`.
 */
export const attachNotifications = (): ReturnType<typeof attached> => (definition, name) =>
  attached(name, {
    needs: definition.policy.actions?.attach_notifications ? 'attach_notifications' : 'read',
    childNeeds: 'change',
    create: (parent) => ({
      organization: definition.type === 'organization' ? parent.id : parent.organization_id,
    }),
  })(definition, name);
