/**
 * Display name and description of each role field (docs/contract/access.md#roles). `<object>` is replaced
 * by the label of the resource.
 */
const ROLE_TEXTS: Record<string, readonly [name: string, description: string]> = {
  admin_role: ['Admin', 'Can manage all aspects of the <object>'],
  member_role: ['Member', 'User is a member of the <object>'],
  read_role: ['Read', 'May view settings for the <object>'],
  use_role: ['Use', 'Can use the <object> in a job template'],
  update_role: ['Update', 'May update the <object>'],
  adhoc_role: ['Ad Hoc', 'May run ad hoc commands on the <object>'],
  execute_role: ['Execute', 'May run the <object>'],
  approval_role: ['Approve', 'Can approve or deny a workflow approval node'],
  auditor_role: ['Auditor', 'Can view all aspects of the <object>'],
  project_admin_role: ['Project Admin', 'Can manage all projects of the <object>'],
  inventory_admin_role: ['Inventory Admin', 'Can manage all inventories of the <object>'],
  credential_admin_role: ['Credential Admin', 'Can manage all credentials of the <object>'],
  job_template_admin_role: ['Job Template Admin', 'Can manage all job templates of the <object>'],
  workflow_admin_role: ['Workflow Admin', 'Can manage all workflows of the <object>'],
  notification_admin_role: ['Notification Admin', 'Can manage all notifications of the <object>'],
  execution_environment_admin_role: [
    'Execution Environment Admin',
    'Can manage all execution environments of the <object>',
  ],
  system_administrator: ['System Administrator', 'Can manage all aspects of the system'],
  system_auditor: ['System Auditor', 'Can view all aspects of the system'],
};

/** Returns the role fields whose display name contains the text. */
export const roleFieldsByName = (text: string): string[] =>
  Object.entries(ROLE_TEXTS)
    .filter(([, [name]]) => name.toLowerCase().includes(text.toLowerCase()))
    .map(([field]) => field);

/** Returns true if the text is the name of a role field. */
export const isRoleField = (field: string): boolean => Object.hasOwn(ROLE_TEXTS, field);

export interface RoleDescription {
  name: string;
  description: string;
  /** True if the role cannot be granted to a team. */
  user_only?: true;
}

export function describeRole(type: string, label: string, field: string): RoleDescription {
  const [name, description] = ROLE_TEXTS[field] ?? [field, ''];
  const userOnly = type === 'organization' && ['admin_role', 'member_role'].includes(field);
  return {
    name,
    description: description.replace('<object>', label.toLowerCase()),
    ...(userOnly ? { user_only: true as const } : {}),
  };
}
