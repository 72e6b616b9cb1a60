import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { JWTPayload } from 'jose';
import { IdentityTokens, type TokenSubject } from '../credentials/identity-tokens.js';
import { JobContextsRepository, type RunIdentity } from '../runs/job-contexts.repository.js';
import { BaseUrl } from '../settings/base-url.service.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { MAX_TOKEN_SECONDS, SigningKeys } from './signing-keys.service.js';

/** Lifetime of a token that is immediately exchanged for a session, in seconds. */
const LOGIN_SECONDS = 5 * 60;
/** Maximum seconds from the token to the start of the playbook, when the timeout of the run starts. */
const START_SECONDS = 10 * 60;

/** Issues identity tokens of runs (docs/run-identity.md). */
@Injectable()
export class RunTokens extends IdentityTokens {
  constructor(
    private readonly keys: SigningKeys,
    private readonly runs: JobContextsRepository,
    private readonly baseUrl: BaseUrl,
    private readonly runtime: RuntimeSettings,
  ) {
    super();
  }

  async issue(subject: TokenSubject, audience: string, use: 'login' | 'run'): Promise<string> {
    const run = subject.runId === null ? null : await this.runs.identityOf(subject.runId);
    const now = Math.floor(Date.now() / 1000);
    const lifetime = use === 'login' ? LOGIN_SECONDS : await this.lifetime(run);
    return this.keys.sign({
      ...(run ? claimsOf(run, subject.revision) : { sub: 'credential_test' }),
      iss: await this.baseUrl.get(),
      aud: audience,
      iat: now,
      nbf: now,
      exp: now + lifetime,
      jti: randomUUID(),
    });
  }

  /**
   * Returns the maximum time from the token to the end of a run, in seconds. A timeout of -1 means no timeout, 0
   * the default of the settings for runs of this type.
   */
  private async lifetime(run: RunIdentity | null): Promise<number> {
    const settings = await this.runtime.get(
      'DEFAULT_JOB_TIMEOUT',
      'DEFAULT_PROJECT_UPDATE_TIMEOUT',
      'DEFAULT_INVENTORY_UPDATE_TIMEOUT',
    );
    const defaults: Readonly<Record<string, number>> = {
      job: settings.DEFAULT_JOB_TIMEOUT,
      project_update: settings.DEFAULT_PROJECT_UPDATE_TIMEOUT,
      inventory_update: settings.DEFAULT_INVENTORY_UPDATE_TIMEOUT,
    };
    const seconds = run?.timeout || (defaults[run?.type ?? ''] ?? 0);
    return seconds > 0 ? Math.min(seconds + START_SECONDS, MAX_TOKEN_SECONDS) : MAX_TOKEN_SECONDS;
  }
}

/** Returns the claims of a run. Ids are texts, because some services compare only texts. */
function claimsOf(run: RunIdentity, revision: string): JWTPayload {
  const claims = {
    job: run.id,
    job_type: run.type,
    launch_type: run.launch_type,
    template: run.template,
    organization: run.organization,
    launcher: run.launcher,
    launcher_name: run.launcher_name,
    project: run.project,
    revision: run.project === null ? null : revision || null,
  };
  const present = Object.entries(claims).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)] as const],
  );
  const sub = `organization:${run.organization ?? 'none'}:template:${run.template ?? 'none'}`;
  return { sub, ...Object.fromEntries(present) };
}
