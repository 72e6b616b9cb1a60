import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { DomainError, Invalid } from '../common/errors/errors.js';
import { existing } from '../common/invariants.js';
import { resource } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Database } from '../database/database.js';
import { OrganizationsRepository } from '../organizations/organizations.repository.js';
import { TeamsRepository } from '../teams/teams.repository.js';
import { UsersRepository } from '../users/users.repository.js';
import { AuthenticatorsRepository } from './authenticators.repository.js';
import { importedLogins, type ImportedLogin } from './imported-logins.js';
import type { ImportedMap } from './imported-maps.js';

/** Result of an import, in sentences. */
export interface LoginImportReport {
  created: string[];
  secrets: string[];
  notes: string[];
}

/** Creates disabled authenticators and their maps from the settings of the reference product. */
@Injectable()
export class LoginImport {
  constructor(
    private readonly database: Database,
    private readonly resources: ResourceService,
    private readonly authenticators: AuthenticatorsRepository,
    private readonly organizations: OrganizationsRepository,
    private readonly teams: TeamsRepository,
    private readonly users: UsersRepository,
  ) {}

  /**
   * Imports authenticators and maps as the first superuser. Skips authenticators whose name exists.
   */
  run(values: Readonly<Record<string, unknown>>): Promise<LoginImportReport> {
    const { logins, notes } = importedLogins(values);
    const report: LoginImportReport = { created: [], secrets: [], notes };
    return this.database.transaction(async () => {
      const superuser = existing(await this.users.firstSuperuser(), 'there is a superuser');
      const actor = { ...superuser, isSuperuser: true, isSystemAuditor: false };
      for (const login of logins) await this.create(login, actor, report);
      return report;
    });
  }

  private async create(
    login: ImportedLogin,
    actor: Actor,
    report: LoginImportReport,
  ): Promise<void> {
    const { name, kind, configuration, missingSecret, maps } = login;
    if (await this.authenticators.existsBy({ name })) {
      report.notes.push(`${name}: skipped, because an authenticator of this name exists`);
      return;
    }
    const refusal = await this.attempt(async () => {
      const body = { name, kind, configuration, enabled: false };
      const { id } = await this.resources.create(resource('authenticator'), body, actor);
      report.created.push(`${name} (authenticator ${id})`);
      if (missingSecret !== null) report.secrets.push(`${name}: ${missingSecret}`);
      for (const map of maps) await this.createMap({ id, name, actor }, map, report);
    });
    if (refusal !== null) report.notes.push(`${name}: ${refusal}`);
  }

  private async createMap(
    login: { id: number; name: string; actor: Actor },
    { organization, team, ...map }: ImportedMap,
    { created, notes }: LoginImportReport,
  ): Promise<void> {
    const about = `${login.name}, map "${map.name}"`;
    const references = await this.referencesOf(organization, team);
    if (references === null) {
      notes.push(`${about}: there is no such organization or team. Create it and add the map`);
      return;
    }
    const refusal = await this.attempt(() =>
      this.resources.create(
        resource('authenticator_map'),
        { ...map, authenticator: login.id, ...references },
        login.actor,
      ),
    );
    if (refusal === null) created.push(about);
    else notes.push(`${about}: ${refusal}`);
  }

  /** Returns the references of a map; null if the organization or the team does not exist. */
  private async referencesOf(
    organization: string | undefined,
    team: string | undefined,
  ): Promise<object | null> {
    if (organization === undefined) return {};
    const organizationRow = await this.organizations.findOneBy({ name: organization });
    if (!organizationRow) return null;
    if (team === undefined) return { organization: organizationRow.id };
    const teamRow = await this.teams.findOneBy({ name: team, organization_id: organizationRow.id });
    return teamRow && { team: teamRow.id };
  }

  /**
   * Performs a part of the import. Rolls back a refused part, and returns the reason of the
   * refusal.
   */
  private async attempt(work: () => Promise<unknown>): Promise<string | null> {
    try {
      await this.database.savepoint(work);
      return null;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return error instanceof Invalid ? JSON.stringify(error.errors) : error.message;
    }
  }
}
