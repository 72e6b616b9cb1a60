import { Injectable } from '@nestjs/common';
import { GitReach } from '../../code-hosts/git-reach.js';
import { Settings } from '../../config/settings.js';
import { CredentialSecrets } from '../../credentials/credential-secrets.service.js';
import type { LookupSession } from '../../credentials/external/lookup-session.js';
import { textInput } from '../../credentials/types/inputs.js';
import { OrganizationsRepository } from '../../organizations/organizations.repository.js';
import {
  contentDigest,
  needsProject,
  readRequirements,
  type GalaxyServer,
  type RequirementFile,
} from '../../projects/project-requirements.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import type { Isolation } from '../sandbox/isolation.js';
import { ContentCache } from '../runner/content-cache.js';
import { type ContentLimits, installContent } from '../runner/galaxy-install.js';

/** A request for the roles and collections of a project. */
export interface ContentRequest extends Pick<ContentLimits, 'deadline' | 'signal' | 'onOutput'> {
  readonly projectId: number;
  readonly projectDir: string;
  /** Commit hash of the files. */
  readonly revision: string;
  readonly organizationId: number | null;
  /** Logins of the run to secret stores. */
  readonly lookups: LookupSession;
  /**
   * Returns the containers of the run's execution environment, whose programs install the content; null:
   * the programs of the worker. Called only if content is required.
   */
  readonly isolation: () => Promise<Isolation | null>;
  /** True to install again even if the content is cached. */
  readonly isFresh?: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Installs the roles and collections that projects require
 * (docs/contract/runs.md#content-of-a-project).
 */
@Injectable()
export class ProjectContent {
  private readonly cache: ContentCache;

  constructor(
    private readonly settings: Settings,
    private readonly runtime: RuntimeSettings,
    private readonly organizations: OrganizationsRepository,
    private readonly credentials: CredentialSecrets,
    private readonly reach: GitReach,
    private readonly sandbox: SandboxService,
  ) {
    this.cache = new ContentCache(settings.DATA_DIR, settings.CONTENT_RETENTION * DAY_MS);
  }

  /**
   * Installs the requirements of the files unless they are cached.
   *
   * @returns folder with `roles` and `collections`; null if nothing is required, or if nothing can be
   *   installed, with the reason in the output
   * @throws ContentError, RunnerError
   */
  async provide(request: ContentRequest): Promise<string | null> {
    const { projectId: project, projectDir, revision, onOutput } = request;
    const { organizationId: organization } = request;
    const files = await this.enabledFiles(await readRequirements(projectDir), onOutput);
    if (files.length === 0) return null;
    const servers = organization === null ? [] : await this.servers(organization, request.lookups);
    if (organization === null || servers.length === 0) {
      onOutput('Nothing is installed: the organization has no Galaxy credentials.\n');
      return null;
    }
    const isolation = await request.isolation();
    const source = { organization, files, servers, project, revision };
    const digest = contentDigest(
      isolation?.mode === 'container' ? { ...source, image: isolation.plan.image } : source,
      this.settings.SECRET_KEY,
    );
    const found = request.isFresh ? null : await this.cache.find(digest);
    if (found !== null) {
      onOutput('The required roles and collections are installed already.\n');
      return found;
    }
    const { GALAXY_TASK_ENV: environment, GALAXY_IGNORE_CERTS: ignoresCertificates } =
      await this.runtime.get('GALAXY_TASK_ENV', 'GALAXY_IGNORE_CERTS');
    return this.cache.create(digest, (root) =>
      installContent({
        ...request,
        projectDir: needsProject(files) ? projectDir : null,
        files,
        servers,
        root,
        environment,
        ignoresCertificates,
        guard: this.reach.guard,
        sandbox: {
          wrap: (command, spec) => this.sandbox.wrap(command, spec, isolation),
        },
        maxFolderBytes: this.settings.JOB_DISK_BYTES,
      }),
    );
  }

  private async enabledFiles(
    files: readonly RequirementFile[],
    onOutput: (text: string) => void,
  ): Promise<RequirementFile[]> {
    const switches = await this.runtime.get('AWX_ROLES_ENABLED', 'AWX_COLLECTIONS_ENABLED');
    const disabled = Object.entries(switches).flatMap(([name, isOn]) => (isOn ? [] : [name]));
    const required = {
      roles: ['AWX_ROLES_ENABLED'],
      collections: ['AWX_COLLECTIONS_ENABLED'],
      both: ['AWX_ROLES_ENABLED', 'AWX_COLLECTIONS_ENABLED'],
    };
    return files.filter(({ path, kind }) => {
      const missing = required[kind].filter((name) => disabled.includes(name));
      if (missing.length > 0) onOutput(`${path} is skipped: ${missing.join(', ')} is off.\n`);
      return missing.length === 0;
    });
  }

  private async servers(organization: number, lookups: LookupSession): Promise<GalaxyServer[]> {
    const ids = await this.organizations.galaxyCredentials(organization);
    const opened = await this.credentials.open(ids, lookups);
    return ids.flatMap((id) => {
      const inputs = opened.get(id)?.inputs;
      if (!inputs) return [];
      const [url, authUrl, token] = ['url', 'auth_url', 'token'].map((name) =>
        textInput(inputs, name),
      );
      return url ? [{ url, authUrl: authUrl ?? '', token: token ?? '' }] : [];
    });
  }
}
