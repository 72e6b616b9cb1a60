/**
 * Callers of all permission tests. Organization and team are those of `home`:
 *
 *   superuser   may do everything            auditor     may read everything
 *   orgAdmin    admin_role of the org        orgMember   member_role of the org
 *   teamAdmin   admin_role of the team       teamMember  member_role of the team, nothing else
 *   outsider    administers another org      nobody      holds no role
 *   anonymous   sends no credentials
 *
 * Each is an ApiClient (client.ts) with a token; `as.users.orgAdmin` is its user row.
 * `asUser(row)` is a client for any other user.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiClient } from './client.js';
import type { Factories } from './make.js';

export const PERSONA_NAMES = [
  'superuser',
  'auditor',
  'orgAdmin',
  'orgMember',
  'teamAdmin',
  'teamMember',
  'outsider',
  'nobody',
] as const;

export type PersonaName = (typeof PERSONA_NAMES)[number];

/** Organizations and team of the personas. */
export interface Home {
  organization: Row;
  team: Row;
  /** Organization of the outsider. */
  otherOrganization: Row;
}

export interface Personas extends Record<PersonaName | 'anonymous', ApiClient> {
  users: Record<PersonaName, Row>;
  /** Creates a client with a new token of the user. */
  asUser(user: Row, options?: { scope?: string }): Promise<ApiClient>;
}

/** Rows of the personas, their organizations and their team. */
export interface PersonaRows {
  users: Record<PersonaName, Row>;
  home: Home;
}

/** Creates the users, the organizations, the team and the roles. */
export async function createPersonas(make: Factories): Promise<PersonaRows> {
  const users = {} as Record<PersonaName, Row>;
  for (const name of PERSONA_NAMES)
    users[name] = await make.user({ username: name, ...FLAGS[name] });
  make.actAs(users.superuser);
  const organization = await make.organization({ name: 'Home' });
  const otherOrganization = await make.organization({ name: 'Elsewhere' });
  const team = await make.team({ name: 'Home Team', organization: organization.id });
  await make.grant('organization', organization, 'admin_role', { user: users.orgAdmin });
  await make.grant('organization', organization, 'member_role', { user: users.orgMember });
  await make.grant('team', team, 'admin_role', { user: users.teamAdmin });
  await make.grant('team', team, 'member_role', { user: users.teamMember });
  await make.grant('organization', otherOrganization, 'admin_role', { user: users.outsider });
  return { users, home: { organization, team, otherOrganization } };
}

/** Creates a token for each persona and returns the clients that send the tokens. */
export async function signIn(
  url: string,
  make: Factories,
  { users }: PersonaRows,
): Promise<Personas> {
  const clientOf = (token: string): ApiClient =>
    new ApiClient(url, { Authorization: `Bearer ${token}` });
  const tokens = await make.tokens(PERSONA_NAMES.map((name) => users[name]));
  const clients = Object.fromEntries(
    PERSONA_NAMES.map((name, index) => [name, clientOf(tokens[index]!)]),
  ) as Record<PersonaName, ApiClient>;
  const asUser: Personas['asUser'] = async (user, options) =>
    clientOf(await make.token(user, options));
  return { ...clients, anonymous: new ApiClient(url), users, asUser };
}

const FLAGS: Partial<Record<PersonaName, Record<string, boolean>>> = {
  superuser: { is_superuser: true },
  auditor: { is_system_auditor: true },
};
