import { isRecord } from '../common/records.js';

/** Type of run by group of run events. */
export const EVENT_GROUPS: ReadonlyMap<string, string> = new Map([
  ['job_events', 'job'],
  ['project_update_events', 'project_update'],
  ['inventory_update_events', 'inventory_update'],
  ['ad_hoc_command_events', 'ad_hoc_command'],
  ['system_job_events', 'system_job'],
  ['workflow_events', 'workflow_job'],
]);

/** One group that a client subscribes to: `jobs` and `status_changed`, or `job_events` and `7`. */
export interface LiveGroup {
  group: string;
  member: string;
  name: string;
}

/** Changes of a subscription, as the message to the client contains them. */
export interface GroupChanges {
  groups_current: string[];
  groups_left: string[];
  groups_joined: string[];
}

/** Maximum number of groups of a subscription. A page of an interface follows fewer than ten. */
const MAX_GROUPS = 100;
const MEMBER = /^\w{1,64}$/;

/**
 * Returns the groups of a subscription without duplicates, or null if the client sent another value or
 * too many groups.
 */
export function readGroups(sent: unknown): LiveGroup[] | null {
  if (!isRecord(sent)) return null;
  const groups = new Map<string, LiveGroup>();
  for (const [group, members] of Object.entries(sent)) {
    if (!MEMBER.test(group) || !Array.isArray(members)) return null;
    for (const member of members.map(String)) {
      const name = `${group}-${member}`;
      if (!MEMBER.test(member) || groups.size >= MAX_GROUPS) return null;
      groups.set(name, { group, member, name });
    }
  }
  return [...groups.values()];
}

/** Returns the changes that replace one subscription with another. */
export const groupChanges = (
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): GroupChanges => ({
  groups_current: [...after],
  groups_left: [...before].filter((name) => !after.has(name)),
  groups_joined: [...after].filter((name) => !before.has(name)),
});
